// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_build - builds the symbol table of an ELF file (symbol_table.h) from its debug
 * information.
 *
 * The debug file is untrusted input: building is bounded in memory and steps, and reads nothing but
 * the descriptors that it is given. All memory is freed when a function returns. Any thread.
 */
#pragma once

#include "base/err.h"
#include "elf/build_id.h"

struct symbol_build_options {
	uint64_t memory_max; /* bytes of memory for the build; 0: SYMBOL_BUILD_MEMORY_MAX */
	int alt_fd;          /* dwz's common file, see symbol_build_alt_id(); 0 or less: none */
	/* The package of the program's split DWARF (.dwp). 0 or less: none, or the debug file
	 * itself has the sections of the package. */
	int package_fd;
};

/*
 * The build id of the file that dwz moved parts of this file's DWARF to (.gnu_debugaltlink).
 * Debuginfod servers have that file under its build id, like any other. False: there is no such
 * file, or elf_fd cannot be read. A table that is built without dwz's file lacks the names in it.
 */
bool symbol_build_alt_id(int elf_fd, struct build_id *ret_id) MUST_CHECK;

/*
 * Builds the symbol table of the ELF file at elf_fd and writes it to out_fd, from offset 0. For
 * each address, the first of these sources that has it provides the name:
 *
 *     DWARF 2 to 5, plain or compressed (zlib, zstd), with or without dwz's common file
 *     .gopclntab, if there is no DWARF; with inlined calls if the file has the program's data
 *     .symtab; if it is absent, .dynsym and .gnu_debugdata
 *     relocations of PLT stubs: "memcpy@plt"
 *
 * A unit of split DWARF (-gsplit-dwarf) that is in no package has the names of ELF symbols, but no
 * lines and no inlined calls; the table counts such units (split_units). A file without any
 * names makes an empty table. ERR_INVALID: not an ELF file, its contents are inconsistent, or it is
 * a relocatable file (.o, .ko; dwz's file may be one); ERR_LIMIT: more than the options or
 * elf/limits.h allow; ERR_IO: reading or writing failed. After a failure out_fd may have a part of
 * a table, which the caller discards. The caller keeps the descriptors; out_fd must be open for
 * writing.
 */
bool symbol_build(const struct symbol_build_options *options, int elf_fd, int out_fd,
		  struct err *err) MUST_CHECK;
