// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_functions - reads functions and inlined calls from DWARF into the symbol model.
 *
 * Every unit is read once, front to back. The entry of a function has its address ranges; its name
 * may be in another entry (DW_AT_abstract_origin, DW_AT_specification), in another unit or in the
 * file of dwz. One thread.
 */
#pragma once

#include "dwarf/dwarf_file.h"
#include "symbols/symbol_model_internal.h"

/*
 * Adds the functions and lines of all units to the model. The entries of a skeleton unit are read
 * from the package of split DWARF; if it is NULL or does not have them, the unit is counted in the
 * writer's split_units. Malformed units are skipped. ERR_LIMIT: the model exceeds its bounds of
 * memory or steps.
 */
bool dwarf_functions_read(struct dwarf_file *file, const struct dwarf_file *package,
			  struct symbol_model *model, struct err *err) MUST_CHECK;
