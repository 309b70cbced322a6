// SPDX-License-Identifier: Apache-2.0
/*
 * limits - what one ELF file may make us do.
 */
#pragma once

/* Bytes that building a table of names may hold beside the file. */
#define SYMBOL_BUILD_MEMORY_MAX (4ULL << 30)

/* Work to build one: attributes, pieces, rows. So many steps for each byte of what is read, and so
 * many for all; a file that was not made to deceive takes less than one a byte. */
#define SYMBOL_BUILD_STEPS_A_BYTE 16ULL
#define SYMBOL_BUILD_STEPS_LEAST  (1ULL << 26)

/* Bytes that building a table of unwind rows may hold. */
#define UNWIND_BUILD_MEMORY_MAX (1ULL << 30)

enum {
	ELF_SEGMENTS_MAX = 64,             /* PT_LOADs that are kept; more: the file is refused */
	ELF_HEADERS_MAX = 65535,           /* program or section headers that are looked at */
	ELF_NOTE_BYTES_MAX = 64 << 10,     /* of one note segment; the rest is not read */
	ELF_NAMES_MAX = 4 << 20,           /* bytes of section names; more: the file is refused */
	ELF_SYMBOLS_BYTES_MAX = 512 << 20, /* of a symbol table, or of its names */
	GO_TABLE_MAX = 1 << 30,      /* bytes of .gopclntab, or of the data that goes with it */
	GO_VALUES_MAX = 1 << 20,     /* changes of line, or of file, in one function of Go */
	MINI_DEBUG_MAX = 256 << 20,  /* bytes of the file inside .gnu_debugdata, and packed */
	DWARF_ATTRIBUTES_MAX = 1024, /* of one shape of entries; more: its unit makes no sense */
	DWARF_BASES_MAX = 16,        /* entries that a name is looked for in, one after the other */
	DWARF_CONTEXTS_MAX =
		32, /* namespaces and types around a function; outer ones are left out */
	DWARF_CONTEXT_BYTES_MAX = 4 << 10, /* bytes of their names; outer ones are left out */
	SYMBOL_LINES_MAX = 64,      /* calls inlined into one another; inner ones are left out */
	SYMBOL_NAME_MAX = 32 << 10, /* bytes of a name or path; it is cut there */
	DEMANGLE_MAX = 4 << 10,     /* bytes of a name that is demangled */
	DEMANGLED_MAX = 32 << 10,   /* bytes that come of it */
	DEBUG_SEGMENTS_MAX = 1024,  /* program headers of a file that is extracted from */
	DEBUG_LINK_NAME_MAX = 255,  /* of a .gnu_debuglink; a longer one names no file */
	DEBUG_LINK_PATH_MAX = 4095, /* of a .gnu_debugaltlink */
	UNWIND_SECTION_MAX = 512 << 20,  /* bytes of .eh_frame or .debug_frame */
	UNWIND_ROWS_MAX = 16 << 20,      /* rows of a table; more: the file has none */
	UNWIND_REMEMBERED_MAX = 32,      /* states put aside; a function with more is not unwound */
	UNWIND_GO_STEPS_LEAST = 1 << 22, /* values of Go's tables, beside one for each byte */
	UNWIND_SEARCH_MAX = 64 << 20,    /* bytes of code that are searched for a signal's return */
	UNWIND_FOLLOW_MAX = 256 << 10,   /* bytes of a function whose code is followed */
	BUILD_ID_BYTES_MIN = 4,          /* shorter ones name nothing: the fleet has more files */
	BUILD_ID_BYTES_MAX = 64,         /* GNU's are 20; longer ones are no build ids */
};
