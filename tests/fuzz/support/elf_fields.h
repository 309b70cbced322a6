// SPDX-License-Identifier: Apache-2.0
/*
 * elf_fields - lists the fields that a parser of an ELF file depends on: counts, sizes, offsets.
 *
 * Counts, sizes, offsets, indexes and encodings of the headers, and of the sections that our
 * parsers read. elf_mutant writes into them. The walk reads the file as the format describes it and
 * stops where the file ends, so a file that was mutated before has fields, too. Any thread.
 */
#pragma once

#include "base/str.h"
#include "base/vec.h"

#define ELF_FIELD_KINDS(ROW)                      \
	ROW(ELF_FIELD_HEADER, "header")           \
	ROW(ELF_FIELD_SEGMENT, "segment")         \
	ROW(ELF_FIELD_SECTION, "section")         \
	ROW(ELF_FIELD_NOTE, "note")               \
	ROW(ELF_FIELD_COMPRESSION, "compression") \
	ROW(ELF_FIELD_FRAME, "frame")             \
	ROW(ELF_FIELD_UNIT, "unit")               \
	ROW(ELF_FIELD_ENTRY, "entry")             \
	ROW(ELF_FIELD_ABBREVIATION, "abbrev")     \
	ROW(ELF_FIELD_LINE, "line")               \
	ROW(ELF_FIELD_TABLE, "dwarf_table")       \
	ROW(ELF_FIELD_SYMBOL, "symbol")           \
	ROW(ELF_FIELD_STRING, "string")           \
	ROW(ELF_FIELD_RELOCATION, "relocation")   \
	ROW(ELF_FIELD_GO_TABLE, "go_table")       \
	ROW(ELF_FIELD_MINI_DEBUG, "mini_debug")   \
	ROW(ELF_FIELD_LINK, "link")

enum elf_field_kind { ELF_FIELD_KINDS(NAMED_CONSTANT) ELF_FIELD_COUNT };
extern const char *const elf_field_names[ELF_FIELD_COUNT];

struct elf_field {
	size_t offset, len;
	enum elf_field_kind kind;
	bool is_range;  /* bytes of unknown layout; else an integer of 1, 2, 4 or 8 bytes */
	bool is_needed; /* the kernel or the program itself reads it when the program runs */
	/* where the section that contains it begins: offsets of DWARF are relative to it */
	size_t section;
};

typedef VEC(struct elf_field) elf_fields;

/* Appends the fields of the image, of any bytes. */
void elf_fields_list(str image, struct arena *arena, elf_fields *fields);
