// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_functions - the functions that DWARF tells of, with what was inlined into them.
 *
 * Every unit is read once, front to back. A function's own entry says where its code is; its name
 * may stand in another entry (DW_AT_abstract_origin, DW_AT_specification), in another unit or in
 * the alt file.
 */
#pragma once

#include "dwarf_file.h"
#include "symbol_model.h"

/*
 * Add the functions and lines of all units to the model. Units that make no sense are left out.
 * ERR_LIMIT: the model is full.
 */
bool dwarf_functions_read(struct dwarf_file *file, struct symbol_model *model,
			  struct err *err) MUST_CHECK;
