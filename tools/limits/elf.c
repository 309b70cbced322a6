// SPDX-License-Identifier: Apache-2.0
/* Bounds of lib/elf/limits.h. */
#include "elf/limits.h"
#include "limits/limit.h"

#define NO_UNWIND_TABLE                                                                      \
	"the file gets no unwind table, its stacks are walked by frame pointers: the build " \
	"fails as `too_large`"
#define NO_SYMBOL_TABLE "the file gets no symbol table: `ERR_LIMIT` with a sentence"

static const struct limit rows[] = {
	LIMIT(ELF_SEGMENTS_MAX, COUNT, "loaded segments of an ELF file",
	      "addresses in the file are unknown, `decima_agent_executables_unreadable_total`"),
	LIMIT(ELF_HEADERS_MAX, COUNT, "program or section headers of an ELF file that are read",
	      "the others are ignored; a file without a build id is identified by its htlhash"),
	LIMIT(ELF_NOTE_BYTES_MAX, BYTES, "the notes of a file",
	      "the remainder is not read; a file without a build id is identified by its htlhash"),
	LIMIT(ELF_NAMES_MAX, BYTES, "the section names of an ELF file",
	      "the upload is rejected: 400 `bad_data` with a sentence"),
	LIMIT(ELF_SYMBOLS_BYTES_MAX, BYTES,
	      "an ELF symbol table (`.symtab`, `.dynsym`), or its string table", NO_SYMBOL_TABLE),
	LIMIT(SYMBOL_BUILD_MEMORY_MAX, BYTES, "memory to build a symbol table", NO_SYMBOL_TABLE),
	LIMIT(SYMBOL_BUILD_STEPS_PER_BYTE, COUNT,
	      "steps (attributes, address ranges, rows) of the build of a symbol table, for each "
	      "byte "
	      "of debug information",
	      NO_SYMBOL_TABLE),
	LIMIT(SYMBOL_BUILD_STEPS_MIN, COUNT, "steps that every build of a symbol table may take",
	      NO_SYMBOL_TABLE),
	LIMIT(GO_TABLE_MAX, BYTES, "`.gopclntab` of a Go program, or its data section",
	      NO_SYMBOL_TABLE),
	LIMIT(GO_VALUES_MAX, COUNT, "changes of the line or the file in one Go function",
	      "the remainder of the function has no lines"),
	LIMIT(MINI_DEBUG_MAX, BYTES, "`.gnu_debugdata`, compressed or decompressed",
	      NO_SYMBOL_TABLE),
	LIMIT(DWARF_ATTRIBUTES_MAX, COUNT, "attributes of a DWARF abbreviation",
	      "its unit is skipped; its addresses get the names of ELF symbols"),
	LIMIT(DWARF_BASES_MAX, COUNT, "DWARF entries that are followed to find a function's name",
	      "further entries are not read"),
	LIMIT(DWARF_CONTEXTS_MAX, COUNT, "namespaces and types around a function",
	      "the outer ones are left out, if the function has no linkage name"),
	LIMIT(DWARF_CONTEXT_BYTES_MAX, BYTES,
	      "the names of all namespaces and types around a function",
	      "the outer ones are left out, if the function has no linkage name"),
	LIMIT(SYMBOL_LINES_MAX, COUNT, "lines of an address: a function and its inlined calls",
	      "the innermost calls are left out"),
	LIMIT(SYMBOL_NAME_MAX, BYTES, "a name or a path in a symbol table", "it is truncated"),
	LIMIT(DEMANGLE_MAX, BYTES, "a name that is demangled", "it is shown mangled"),
	LIMIT(DEMANGLED_MAX, BYTES, "a demangled name", "it is shown mangled"),
	LIMIT(DEBUG_SEGMENTS_MAX, COUNT, "program headers of a file whose debug info is extracted",
	      UPLOADS "{outcome=\"malformed\"}`"),
	LIMIT(DEBUG_LINK_NAME_MAX, BYTES, "the file name in a `.gnu_debuglink`",
	      "the link is ignored, the debug info of the program itself is uploaded"),
	LIMIT(DEBUG_LINK_PATH_MAX, BYTES, "the path in a `.gnu_debugaltlink`",
	      "the link is ignored, the debug info of the program itself is uploaded"),
	LIMIT(UNWIND_BUILD_MEMORY_MAX, BYTES, "memory to build an unwind table", NO_UNWIND_TABLE),
	LIMIT(UNWIND_SECTION_MAX, BYTES, "`.eh_frame` or `.debug_frame`", NO_UNWIND_TABLE),
	LIMIT(UNWIND_ROWS_MAX, COUNT, "rows of an unwind table", NO_UNWIND_TABLE),
	LIMIT(UNWIND_REMEMBERED_MAX, COUNT, "unwind states that a function remembers",
	      "the function cannot be unwound, its stacks end there"),
	LIMIT(UNWIND_GO_STEPS_MIN, COUNT,
	      "values of `.gopclntab` that are read, beside one for each of its bytes",
	      "further functions are walked by frame pointers"),
	LIMIT(UNWIND_SEARCH_MAX, BYTES,
	      "code that is searched for the return from signals, if no unwind information "
	      "describes it",
	      "it is not searched, a stack in a signal handler ends there"),
	LIMIT(UNWIND_FOLLOW_MAX, BYTES,
	      "a function without unwind information whose instructions are analysed",
	      "it gets no rows, a stack in it is walked by frame pointers"),
	LIMIT(BUILD_ID_BYTES_MIN, BYTES, "the shortest build id that files are stored under",
	      "400 `bad_data` with a sentence"),
	LIMIT(BUILD_ID_BYTES_MAX, BYTES, "a build id",
	      "it is ignored; the file is identified by its htlhash"),
};

const struct limit_table elf_limits = TABLE("lib/elf/limits.h", rows);
