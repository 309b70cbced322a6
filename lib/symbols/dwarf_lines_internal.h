// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_lines - reads the line table of a unit (.debug_line): the file and the line of each
 * address.
 */
#pragma once

#include "dwarf/dwarf_file.h"
#include "symbols/symbol_model_internal.h"

struct dwarf_line_file {
	str name;
	uint64_t directory;
	uint32_t id; /* of the symbol writer; SYMBOL_NOWHERE: not looked up yet */
};

struct dwarf_lines {
	uint16_t version;
	str unit_directory;
	VEC(str) directories;
	VEC(struct dwarf_line_file) files;
};

/*
 * Runs the line program of the unit and adds its sequences to the model. Returns the files of the
 * table, in the model's arena. NULL: there is no table, it is malformed, or the model exceeds its
 * bounds; symbol_model_check() distinguishes the last case.
 */
struct dwarf_lines *dwarf_lines_read(const struct dwarf_unit *unit, struct symbol_model *model);

/* The symbol writer's id of the file with this number in the unit. 0: no such file. */
uint32_t dwarf_lines_file(struct dwarf_lines *lines, uint64_t number, struct symbol_model *model);
