// SPDX-License-Identifier: Apache-2.0
/*
 * limits - bounds on the work and the memory for one ELF file, which is untrusted input.
 */
#pragma once

/* Bytes of memory for building a symbol table, without the mapped file. */
#define SYMBOL_BUILD_MEMORY_MAX (4ULL << 30)

/*
 * Steps for building a symbol table. A step is an attribute, an address range or a row. A build may
 * take STEPS_MIN steps, and STEPS_PER_BYTE steps more for each byte of debug information. Files
 * that are not malicious need less than one step per byte.
 */
#define SYMBOL_BUILD_STEPS_PER_BYTE 16ULL
#define SYMBOL_BUILD_STEPS_MIN      (1ULL << 26)

/* Bytes of memory for building an unwind table. */
#define UNWIND_BUILD_MEMORY_MAX (1ULL << 30)

enum {
	ELF_SEGMENTS_MAX = 64,         /* PT_LOAD segments; a file with more is rejected */
	ELF_HEADERS_MAX = 65535,       /* program or section headers that are read */
	ELF_NOTE_BYTES_MAX = 64 << 10, /* bytes of notes that are read */
	ELF_NAMES_MAX = 4 << 20,       /* bytes of section names; a file with more is rejected */
	ELF_SYMBOLS_BYTES_MAX = 512 << 20, /* bytes of .symtab or .dynsym, or of its string table */
	GO_TABLE_MAX = 1 << 30,      /* bytes of .gopclntab, or of the data section it needs */
	GO_VALUES_MAX = 1 << 20,     /* changes of the line or the file in one Go function */
	MINI_DEBUG_MAX = 256 << 20,  /* bytes of .gnu_debugdata, compressed or decompressed */
	DWARF_ATTRIBUTES_MAX = 1024, /* of an abbreviation; with more the unit is malformed */
	DWARF_BASES_MAX = 16,    /* base entries that are followed to find the name of an entry */
	DWARF_CONTEXTS_MAX = 32, /* namespaces and types around a function; outer ones left out */
	DWARF_CONTEXT_BYTES_MAX = 4 << 10, /* bytes of their names; outer ones are left out */
	SYMBOL_LINES_MAX = 64,             /* depth of inlined calls; inner ones are left out */
	SYMBOL_NAME_MAX = 32 << 10,        /* bytes of a name or path; longer ones are truncated */
	DEMANGLE_MAX = 4 << 10,            /* bytes of a name that is demangled */
	DEMANGLED_MAX = 32 << 10,          /* bytes of a demangled name */
	DEBUG_SEGMENTS_MAX = 1024,  /* program headers of a file whose debug info is extracted */
	DEBUG_LINK_NAME_MAX = 255,  /* bytes of the name; a longer link is ignored */
	DEBUG_LINK_PATH_MAX = 4095, /* bytes of the path; a longer link is ignored */
	UNWIND_SECTION_MAX = 512 << 20, /* bytes of .eh_frame or .debug_frame */
	UNWIND_ROWS_MAX = 16 << 20,     /* rows of an unwind table; with more there is no table */
	UNWIND_REMEMBERED_MAX = 32,     /* depth of DW_CFA_remember_state; with more: unsupported */
	UNWIND_GO_STEPS_MIN = 1 << 22,  /* values of .gopclntab, beside one for each of its bytes */
	UNWIND_SEARCH_MAX = 64 << 20,   /* bytes of code searched for the return from signals */
	UNWIND_FOLLOW_MAX = 256 << 10,  /* bytes of a function whose instructions are analysed */
	BUILD_ID_BYTES_MIN = 4,         /* a shorter one does not identify a file uniquely */
	BUILD_ID_BYTES_MAX = 64,        /* GNU build ids have 20 bytes; a longer one is ignored */
};
