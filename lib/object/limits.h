/*
 * limits - what one ELF file may make us do.
 */
#pragma once

/* Bytes that building a table of names may hold beside the file. */
#define SYMBOL_BUILD_MEMORY_MAX (4ULL << 30)

/* Pieces of functions that are looked at: more than any file has that was not made to deceive. */
#define SYMBOL_BUILD_STEPS_MAX (1ULL << 30)

enum {
	ELF_SEGMENTS_MAX = 64,           /* PT_LOADs that are kept; more: the file is refused */
	ELF_HEADERS_MAX = 65535,         /* program or section headers that are looked at */
	ELF_NOTE_BYTES_MAX = 64 << 10,   /* of one note segment; the rest is not read */
	ELF_NAMES_MAX = 4 << 20,         /* bytes of section names; more: the file is refused */
	ELF_SYMBOLS_BYTES_MAX = 1 << 30, /* of a symbol table, or of its names */
	GO_TABLE_MAX = 1 << 30,          /* bytes of .gopclntab, or of the data that goes with it */
	MINI_DEBUG_MAX = 256 << 20,      /* bytes of the file inside .gnu_debugdata, and packed */
	DWARF_BASES_MAX = 16,       /* entries that a name is looked for in, one after the other */
	SYMBOL_LINES_MAX = 64,      /* calls inlined into one another; inner ones are left out */
	SYMBOL_NAME_MAX = 32 << 10, /* bytes of a name or path; it is cut there */
	DEMANGLE_MAX = 4 << 10,     /* bytes of a name that is demangled */
	DEMANGLED_MAX = 32 << 10,   /* bytes that come of it */
	DEBUG_SEGMENTS_MAX = 1024,  /* program headers of a file that is extracted from */
	DEBUG_LINK_NAME_MAX = 255,  /* of a .gnu_debuglink; a longer one names no file */
	DEBUG_LINK_PATH_MAX = 4095, /* of a .gnu_debugaltlink */
	BUILD_ID_BYTES_MIN = 4,     /* shorter ones name nothing: the fleet has more files */
	BUILD_ID_BYTES_MAX = 64,    /* GNU's are 20; longer ones are no build ids */
};
