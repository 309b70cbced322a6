// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_table - maps addresses of a program to functions, files, lines and inlined calls.
 *
 * A table is built once from a debug file (symbol_build.h), written to a file, and mapped
 * afterwards. It does not need the debug file, and no memory except its mapping. Any number of
 * threads may look up addresses in one table.
 *
 *     if (!symbol_build(&(struct symbol_build_options){ 0 }, elf_fd, table_fd, err))
 *             return false;
 *     ...
 *     struct symbol_table table = { 0 };
 *     struct symbol_line lines[SYMBOL_LINES_MAX];
 *     if (!symbol_table_open(&table, table_fd, err))
 *             return false;
 *     count = symbol_table_find(&table, address, lines);
 *
 * Addresses are those of the ELF file (as linked). symbol_table_open() verifies the whole table, so
 * a corrupt table is an error and never causes a read out of bounds.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "elf/limits.h"

struct symbol_block;
struct symbol_node;
struct symbol_function;

/* A source line of an address. */
struct symbol_line {
	str system_name; /* the linkage name if there is one, else the plain name; never empty */
	str name;        /* the qualified name in the source; empty: demangle system_name */
	str file;        /* absolute if the compiler's directory is known; may be empty; without a
			  * directory if only the ELF symbol table has it */
	uint32_t line;   /* of the address; for outer functions of the call; 0: unknown */
	uint32_t start_line; /* where the function is declared; 0: unknown */
};

struct symbol_table {
	uint64_t row_count; /* read freely; 0: the table is empty */
	size_t file_len;
	/* Compile units whose functions are in a .dwo or .dwp file that the build did not have:
	 * they have the names of ELF symbols, and no lines and no inlined calls.
	 */
	uint32_t split_units;
	/* private */
	const char *image;
	const struct symbol_block *blocks;
	const struct symbol_node *nodes;
	const struct symbol_function *functions;
	const uint32_t *files;
	size_t block_count, node_count, function_count, file_count;
	str rows, strings;
};

/*
 * Maps the table and verifies all of it, so it reads the whole file. ERR_INVALID: not a symbol
 * table, corrupt, or of another version; the caller should build it again. ERR_IO: the file cannot
 * be mapped. The caller keeps the descriptor and may close it. After a failure nothing is mapped.
 */
bool symbol_table_open(struct symbol_table *table, int fd, struct err *err) MUST_CHECK;

/* Unmaps the table. Strings from symbol_table_find() are then invalid. Accepts a zeroed struct. */
void symbol_table_close(struct symbol_table *table);

/*
 * Writes the lines of the address to `lines`, which has room for SYMBOL_LINES_MAX, innermost first,
 * and returns their number; 0: the address is unknown. Cannot fail. The strings borrow from the
 * mapping, until symbol_table_close().
 */
size_t symbol_table_find(const struct symbol_table *table, uint64_t address,
			 struct symbol_line *lines);
