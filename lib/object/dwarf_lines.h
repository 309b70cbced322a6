// SPDX-License-Identifier: Apache-2.0
/*
 * dwarf_lines - a unit's table of lines: which file and line each address came from.
 */
#pragma once

#include "dwarf_file.h"
#include "symbol_model.h"

struct dwarf_line_file {
	str name;
	uint64_t directory;
	uint32_t id; /* of the writer; SYMBOL_NOWHERE: it was not asked for yet */
};

struct dwarf_lines {
	uint16_t version;
	str unit_directory;
	VEC(str) directories;
	VEC(struct dwarf_line_file) files;
};

/*
 * Run the unit's table and add its sequences to the model. Its files, in the model's arena; NULL:
 * the table makes no sense, or there is none.
 */
struct dwarf_lines *dwarf_lines_read(const struct dwarf_unit *unit, struct symbol_model *model);

/* The writer's id of a file by its number in the unit. 0: there is none. */
uint32_t dwarf_lines_file(struct dwarf_lines *lines, uint64_t number, struct symbol_model *model);
