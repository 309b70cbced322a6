// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_writer - collects what a table of names says, each thing once, and writes it down.
 *
 * The ids it gives out are those of symbol_format.h. Rows are added in the order of their
 * addresses; one that says what the row before says is left out.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "symbol_format.h"

/* An open-addressing set of ids, by a hash of what they stand for. */
struct symbol_slot {
	uint32_t hash, id;
	bool is_used;
};

struct symbol_ids {
	struct symbol_slot *slots;
	size_t cap, len;
};

struct symbol_row {
	uint64_t address;
	uint32_t node, file, line;
};

struct symbol_writer {
	struct arena *arena;
	uint64_t row_count;
	VEC(struct symbol_node) nodes;
	VEC(struct symbol_function) functions;
	VEC(uint32_t) files;
	/* private */
	VEC(struct symbol_block) blocks;
	struct buf rows, strings;
	struct buf both_names; /* the last ones */
	struct symbol_ids names, function_ids, file_ids;
	struct symbol_block block; /* being filled */
	struct symbol_row last;
	bool is_full; /* 32 bits do not count what there is */
};

void symbol_writer_init(struct symbol_writer *writer, struct arena *arena);

/* name is not empty. What is longer than SYMBOL_NAME_MAX is cut. */
uint32_t symbol_writer_function(struct symbol_writer *writer, str name, uint32_t start_line);

/* The same of a name that no linker knows, with what it is in: "app::f" of "f"; may be empty. */
uint32_t symbol_writer_qualified(struct symbol_writer *writer, str name, str qualified,
				 uint32_t start_line);
uint32_t symbol_writer_file(struct symbol_writer *writer, str name);
uint32_t symbol_writer_node(struct symbol_writer *writer, struct symbol_node node);

void symbol_writer_row(struct symbol_writer *writer, struct symbol_row row);

/* ERR_LIMIT: more than 32 bits can count. */
bool symbol_writer_write(struct symbol_writer *writer, int fd, struct err *err) MUST_CHECK;
