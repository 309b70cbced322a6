// SPDX-License-Identifier: Apache-2.0
/*
 * limits - bounds on the work and the memory for one ELF file, which is untrusted input.
 */
#pragma once

#include "base/limit.h"

#define ELF_LIMITS(LIMIT)                                                                          \
	LIMIT(ELF_SEGMENTS_MAX, 64, COUNT, "loaded segments of an ELF file",                       \
	      "addresses in the file are unknown, `decima_agent_executables_unreadable_total`")    \
	LIMIT(ELF_HEADERS_MAX, 65535, COUNT,                                                       \
	      "program or section headers of an ELF file that are read",                           \
	      "the others are ignored; a file without a build id is identified by its htlhash")    \
	LIMIT(ELF_NOTE_BYTES_MAX, 64 << 10, BYTES, "the notes of a file",                          \
	      "the remainder is not read; a file without a build id is identified by its htlhash") \
	LIMIT(ELF_NAMES_MAX, 4 << 20, BYTES, "the section names of an ELF file",                   \
	      "the upload is rejected: 400 `bad_data` with a sentence")                            \
	LIMIT(ELF_SYMBOLS_BYTES_MAX, 512 << 20, BYTES,                                             \
	      "an ELF symbol table (`.symtab`, `.dynsym`), or its string table", NO_SYMBOL_TABLE)  \
	LIMIT(SAME_BUILD_SYMBOLS_MAX, 64 << 20, BYTES,                                             \
	      "an ELF symbol table, or its string table, that is compared with the one of a "      \
	      "stored file",                                                                       \
	      "the stored file stays, `decima_debuginfo_uploads_total{outcome=\"contradicts\"}`")  \
	/* Debian's debug files unpack to 2 or 3 times their size, a small one to 13 times;        \
	 * deflate reaches 1,030. */                                                               \
	LIMIT(UNPACK_RATIO_MAX, 32, COUNT,                                                         \
	      "bytes that the compressed sections of a file unpack to, together, for each byte "   \
	      "of the file",                                                                       \
	      "the upload is rejected, "                                                           \
	      "`decima_debuginfo_uploads_total{outcome=\"beyond_limits\"}`; no symbol table and "  \
	      "no unwind table is built")                                                          \
	LIMIT(UNPACK_FREE_BYTES, 64 << 20, BYTES, "which they may unpack to in any case",          \
	      "the ratio counts")                                                                  \
	/* Without the mapped file. */                                                             \
	LIMIT(SYMBOL_BUILD_MEMORY_MAX, 4ULL << 30, BYTES, "memory to build a symbol table",        \
	      NO_SYMBOL_TABLE)                                                                     \
	/* A step is an attribute, an address range or a row. A build may take STEPS_MIN steps,    \
	 * and STEPS_PER_BYTE steps more for each byte of debug information. Files that are not    \
	 * malicious need less than one step per byte. */                                          \
	LIMIT(SYMBOL_BUILD_STEPS_PER_BYTE, 16ULL, COUNT,                                           \
	      "steps (attributes, address ranges, rows) of the build of a symbol table, for each " \
	      "byte of debug information",                                                         \
	      NO_SYMBOL_TABLE)                                                                     \
	LIMIT(SYMBOL_BUILD_STEPS_MIN, 1ULL << 26, COUNT,                                           \
	      "steps that every build of a symbol table may take", NO_SYMBOL_TABLE)                \
	LIMIT(GO_TABLE_MAX, 1 << 30, BYTES, "`.gopclntab` of a Go program, or its data section",   \
	      NO_SYMBOL_TABLE)                                                                     \
	LIMIT(GO_VALUES_MAX, 1 << 20, COUNT, "changes of the line or the file in one Go function", \
	      "the remainder of the function has no lines")                                        \
	LIMIT(SYMBOL_REACH_CODE_MAX, 4 << 20, BYTES,                                               \
	      "code that is uploaded and read to find where functions of `.dynsym` without a "     \
	      "size end",                                                                          \
	      "it is not uploaded, these functions have no names")                                 \
	LIMIT(MINI_DEBUG_MAX, 256 << 20, BYTES, "`.gnu_debugdata`, compressed or decompressed",    \
	      NO_SYMBOL_TABLE)                                                                     \
	LIMIT(DWARF_ATTRIBUTES_MAX, 1024, COUNT, "attributes of a DWARF abbreviation",             \
	      "its unit is skipped; its addresses get the names of ELF symbols")                   \
	LIMIT(DWARF_BASES_MAX, 16, COUNT,                                                          \
	      "DWARF entries that are followed to find a function's name",                         \
	      "further entries are not read")                                                      \
	LIMIT(DWARF_CONTEXTS_MAX, 32, COUNT, "namespaces and types around a function",             \
	      "the outer ones are left out, if the function has no linkage name")                  \
	LIMIT(DWARF_CONTEXT_BYTES_MAX, 4 << 10, BYTES,                                             \
	      "the names of all namespaces and types around a function",                           \
	      "the outer ones are left out, if the function has no linkage name")                  \
	LIMIT(SYMBOL_LINES_MAX, 64, COUNT,                                                         \
	      "lines of an address: a function and its inlined calls",                             \
	      "the innermost calls are left out")                                                  \
	LIMIT(SYMBOL_NAME_MAX, 32 << 10, BYTES, "a name or a path in a symbol table",              \
	      "it is truncated")                                                                   \
	LIMIT(DEMANGLE_MAX, 4 << 10, BYTES, "a name that is demangled", "it is shown mangled")     \
	LIMIT(DEMANGLED_MAX, 32 << 10, BYTES, "a demangled name", "it is shown mangled")           \
	LIMIT(DEBUG_SEGMENTS_MAX, 1024, COUNT,                                                     \
	      "program headers of a file whose debug info is extracted",                           \
	      UPLOADS "{outcome=\"malformed\"}`")                                                  \
	LIMIT(DEBUG_LINK_NAME_MAX, 255, BYTES, "the file name in a `.gnu_debuglink`",              \
	      "the link is ignored, the debug info of the program itself is uploaded")             \
	LIMIT(DEBUG_LINK_PATH_MAX, 4095, BYTES, "the path in a `.gnu_debugaltlink`",               \
	      "the link is ignored, the debug info of the program itself is uploaded")             \
	LIMIT(UNWIND_BUILD_MEMORY_MAX, 1ULL << 30, BYTES, "memory to build an unwind table",       \
	      NO_UNWIND_TABLE)                                                                     \
	LIMIT(UNWIND_SECTION_MAX, 512 << 20, BYTES, "`.eh_frame` or `.debug_frame`",               \
	      NO_UNWIND_TABLE)                                                                     \
	LIMIT(UNWIND_ROWS_MAX, 16 << 20, COUNT, "rows of an unwind table", NO_UNWIND_TABLE)        \
	LIMIT(UNWIND_REMEMBERED_MAX, 32, COUNT, "unwind states that a function remembers",         \
	      "the function cannot be unwound, its stacks end there")                              \
	LIMIT(UNWIND_GO_STEPS_MIN, 1 << 22, COUNT,                                                 \
	      "values of `.gopclntab` that are read, beside one for each of its bytes",            \
	      "further functions are walked by frame pointers")                                    \
	LIMIT(UNWIND_SEARCH_MAX, 64 << 20, BYTES,                                                  \
	      "code that is searched for the return from signals, if no unwind information "       \
	      "describes it",                                                                      \
	      "it is not searched, a stack in a signal handler ends there")                        \
	LIMIT(UNWIND_FOLLOW_MAX, 256 << 10, BYTES,                                                 \
	      "a function without unwind information whose instructions are analysed",             \
	      "it gets no rows, a stack in it is walked by frame pointers")                        \
	LIMIT(UNWIND_CALLS_MAX, 256, COUNT,                                                        \
	      "calls in the functions of a file that find their frame by a register other than "   \
	      "stack and frame pointer",                                                           \
	      "stacks through further ones end there, `user_unsupported`")                         \
	LIMIT(UNWIND_CALL_CODE_MAX, 1 << 20, BYTES, "code that is searched for such calls",        \
	      "stacks through them end there, `user_unsupported`")                                 \
	LIMIT(UNWIND_CALL_FRAME_MAX, 4 << 10, BYTES,                                               \
	      "call frame instructions of a function that is called there",                        \
	      "a stack through the call ends there, `user_unsupported`")                           \
	LIMIT(BUILD_ID_BYTES_MIN, 4, BYTES, "the shortest build id that files are stored under",   \
	      "400 `bad_data` with a sentence")                                                    \
	/* GNU build ids have 20 bytes. */                                                         \
	LIMIT(BUILD_ID_BYTES_MAX, 64, BYTES, "a build id",                                         \
	      "it is ignored; the file is identified by its htlhash")

ELF_LIMITS(LIMIT_CONSTANT)
