// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_table - the names of a program's addresses: function, file, line, and what was inlined.
 *
 * Built once of a debug file, written to a file, mapped ever after. A table borrows nothing from
 * the debug file and needs no memory but its mapping; any number of threads may look things up in
 * one.
 *
 *     if (!symbol_table_build(&(struct symbol_table_options){ 0 }, elf_fd, table_fd, err))
 *             return false;
 *     ...
 *     struct symbol_table table = { 0 };
 *     struct symbol_line lines[SYMBOL_LINES_MAX];
 *     if (!symbol_table_open(&table, table_fd, err))
 *             return false;
 *     count = symbol_table_find(&table, address, lines);
 *
 * Addresses are the ELF file's own (as linked). The debug file is foreign: building is bounded in
 * memory and steps, and reads nothing but the descriptors that it is given. A table is checked from
 * end to end when it is opened: one that was spoiled is an error, never a wrong read.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "object/limits.h"

struct symbol_block;
struct symbol_node;
struct symbol_function;

/* One line of source that an address stands in. */
struct symbol_line {
	str system_name; /* linkage name where there is one, else the name; never empty */
	str name;        /* of the source, with what it is in; empty: demangle the system name */
	str file;        /* absolute with the compiler's directory; may be empty */
	uint32_t line;   /* of the address; of the call, for outer frames; 0: not known */
	uint32_t start_line; /* where the function is declared; 0: not known */
};

struct symbol_table {
	uint64_t row_count; /* read freely; 0: it names nothing */
	size_t file_len;
	/* private */
	const char *image;
	const struct symbol_block *blocks;
	const struct symbol_node *nodes;
	const struct symbol_function *functions;
	const uint32_t *files;
	size_t block_count, node_count, function_count, file_count;
	str rows, strings;
};

/* Maps the table and checks all of it. ERR_INVALID: it is none, or of another version: build it
 * again. The descriptor stays the caller's and may be closed. */
bool symbol_table_open(struct symbol_table *table, int fd, struct err *err) MUST_CHECK;
void symbol_table_close(struct symbol_table *table);

/* The lines of an address, innermost first, at most SYMBOL_LINES_MAX; 0: nothing is known there.
 * They borrow from the table. */
size_t symbol_table_find(const struct symbol_table *table, uint64_t address,
			 struct symbol_line *lines);
