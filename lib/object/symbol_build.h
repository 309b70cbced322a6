// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_build - builds the symbol table of an ELF file (symbol_table.h) from its debug
 * information.
 *
 * The debug file is untrusted input: building is bounded in memory and steps, and reads nothing but
 * the descriptors that it is given.
 */
#pragma once

#include "base/err.h"
#include "object/build_id.h"

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
