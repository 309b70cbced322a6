// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_writer - collects the parts of a symbol table, without duplicates, and writes the file.
 *
 * The ids that the functions return are those of "symbols/symbol_format_internal.h". The caller
 * adds rows in ascending order of addresses; a row equal to the previous one, except for its
 * address, is left out. Memory is in the arena; texts are copied. Only symbol_writer_write() fails.
 * One thread.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/index.h"
#include "base/vec.h"
#include "symbols/symbol_format_internal.h"

struct symbol_row {
	uint64_t address;
	uint32_t node, file, line;
};

struct symbol_writer {
	struct arena *arena;
	uint64_t row_count;
	uint32_t split_units; /* set by the caller, see symbol_table.h */
	VEC(struct symbol_node) nodes;
	VEC(struct symbol_function) functions;
	VEC(uint32_t) files;
	/* private */
	VEC(struct symbol_block) blocks;
	struct buf rows, strings;
	struct buf both_names;                         /* scratch of symbol_writer_qualified() */
	INDEX(uint32_t) names, function_ids, file_ids; /* ids by what they stand for */
	struct symbol_block block;                     /* the one being filled */
	struct symbol_row last;
	bool is_full; /* an id or an offset exceeded 32 bits */
};

void symbol_writer_init(struct symbol_writer *writer, struct arena *arena);

/*
 * The id of a function, added if it is new. name is not empty; it is truncated to SYMBOL_NAME_MAX
 * bytes.
 */
uint32_t symbol_writer_function(struct symbol_writer *writer, str name, uint32_t start_line);

/*
 * Like symbol_writer_function(), for a function without a linkage name: name is "f", qualified is
 * "app::f". qualified may be empty.
 */
uint32_t symbol_writer_qualified(struct symbol_writer *writer, str name, str qualified,
				 uint32_t start_line);

/* The id of a file, added if it is new. */
uint32_t symbol_writer_file(struct symbol_writer *writer, str name);

/* The id of the new node. */
uint32_t symbol_writer_node(struct symbol_writer *writer, struct symbol_node node);

void symbol_writer_row(struct symbol_writer *writer, struct symbol_row row);

/*
 * Writes the table from offset 0 of fd, which the caller keeps. ERR_LIMIT: the names or rows exceed
 * 4 GiB, or an id exceeds 32 bits; ERR_IO: writing failed, and fd may have a part of the table.
 */
bool symbol_writer_write(struct symbol_writer *writer, int fd, struct err *err) MUST_CHECK;
