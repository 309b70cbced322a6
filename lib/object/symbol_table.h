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
#include "object/build_id.h"
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

struct symbol_table_options {
	uint64_t memory_max; /* bytes that a build may hold; 0: SYMBOL_BUILD_MEMORY_MAX */
	int alt_fd;          /* of what symbol_table_alt_id() names; 0 or less: there is none */
};

/*
 * The build id of the file that dwz moved parts of this one's DWARF to (.gnu_debugaltlink), which
 * is found at a debuginfod like any other. False: it needs none. Without it a table lacks the names
 * that stand there.
 */
bool symbol_table_alt_id(int elf_fd, struct build_id *ret_id) MUST_CHECK;

/*
 * Write the table of the ELF file at elf_fd to out_fd, from its beginning. The names come from, the
 * first that knows an address:
 *
 *     DWARF 2 to 5, plain or compressed (zlib, zstd), whole or with parts in dwz's file
 *     .gopclntab where there is no DWARF, inlined calls included if the program's data is there
 *     .symtab; where there is none, .dynsym and .gnu_debugdata
 *     relocations of stubs: "memcpy@plt"
 *
 * Split DWARF (.dwo, .dwp) is not read yet: of such units the lines are known and the names of
 * symbols, but nothing that was inlined. A file that names nothing makes an empty table.
 * ERR_INVALID: not an ELF file, one that contradicts itself, or is yet to be linked (.o, .ko; the
 * file of dwz may be such a one); ERR_LIMIT: more than the options or limits.h allow. Both
 * descriptors stay the caller's; out_fd may be written and read.
 */
bool symbol_table_build(const struct symbol_table_options *options, int elf_fd, int out_fd,
			struct err *err) MUST_CHECK;

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
