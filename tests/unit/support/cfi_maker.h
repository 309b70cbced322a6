// SPDX-License-Identifier: Apache-2.0
/*
 * cfi_maker - makes .eh_frame and .debug_frame for tests, entry by entry, and computes their rows.
 */
#pragma once

#include "base/buf.h"
#include "unwind/unwind_cfi_internal.h"

enum { CODE_AT = 0x1000, CODE_BYTES = 0x10000 };

struct cfi_maker {
	struct arena arena;
	struct buf bytes;
	bool is_eh;
	uint32_t cie_at; /* offset of the last CIE */
};

/* A string literal that contains zeros. */
#define BYTES(literal) STR(literal)

static inline struct cfi_maker *cfi_maker_new(bool is_eh)
{
	struct cfi_maker *maker = calloc(1, sizeof(*maker));

	if (!maker)
		abort();
	maker->bytes.arena = &maker->arena;
	maker->is_eh = is_eh;
	return maker;
}

static inline void cfi_maker_freep(struct cfi_maker **maker)
{
	arena_free(&(*maker)->arena);
	free(*maker);
}

#define AUTO_CFI_MAKER CLEANUP(cfi_maker_freep) struct cfi_maker

static inline void cfi_entry_add(struct cfi_maker *maker, uint32_t id, str body)
{
	buf_u32(&maker->bytes, (uint32_t)(4 + body.len));
	buf_u32(&maker->bytes, id);
	buf_str(&maker->bytes, body);
}

/* Adds a CIE: 8-byte addresses, the return address in column 16, data alignment -8. */
static inline void cfi_cie_add(struct cfi_maker *maker, const char *letters, str instructions)
{
	struct buf body = { .arena = &maker->arena };

	maker->cie_at = (uint32_t)maker->bytes.len;
	buf_u8(&body, 1);
	buf_bytes_add(&body, letters, strlen(letters) + 1);
	buf_u8(&body, 1);    /* code */
	buf_u8(&body, 0x78); /* data: -8 */
	buf_u8(&body, 16);
	if (letters[0] == 'z') {
		bool has_encoding = strchr(letters, 'R') != NULL;

		buf_u8(&body, has_encoding);
		if (has_encoding)
			buf_u8(&body, 4); /* 8 bytes, absolute */
	}
	buf_str(&body, instructions);
	cfi_entry_add(maker, maker->is_eh ? 0 : UINT32_MAX, buf_bytes(&body));
}

/* Adds the CIE that every compiler writes: the CFA is rsp + 8, the return address just below it. */
static inline void cfi_usual_add(struct cfi_maker *maker)
{
	cfi_cie_add(maker, maker->is_eh ? "zR" : "", BYTES("\x0c\x07\x08\x90\x01"));
}

static inline void cfi_function_add(struct cfi_maker *maker, uint64_t start, uint64_t len,
				    str instructions)
{
	struct buf body = { .arena = &maker->arena };
	uint32_t field_at = (uint32_t)maker->bytes.len + 4;

	buf_u64(&body, start);
	buf_u64(&body, len);
	if (maker->is_eh)
		buf_u8(&body, 0); /* augmentation */
	buf_str(&body, instructions);
	cfi_entry_add(maker, maker->is_eh ? field_at - maker->cie_at : maker->cie_at,
		      buf_bytes(&body));
}

/* The rows of the section, for a program with CODE_BYTES of code at CODE_AT. */
static inline bool cfi_rows_of(str bytes, bool is_eh, uint64_t memory_max, struct arena *arena,
			       struct unwind_rows *rows, struct err *err)
{
	static const struct unwind_machine x86_64 = { 6, 7, 16, false };
	struct elf_file *elf = arena_new(arena, struct elf_file);
	struct unwind_cfi *cfi = arena_new(arena, struct unwind_cfi);
	struct unwind_ranges ranges;

	elf->segments[0] = (struct elf_segment){ 0, CODE_BYTES, CODE_AT, true };
	elf->segment_count = 1;
	cfi->machine = &x86_64;
	cfi->section = (struct dwarf_frame_section){ bytes, 0x100000, is_eh, 8 };
	return unwind_ranges_init(&ranges, elf, memory_max, arena, err) &&
	       unwind_cfi_list(cfi, is_eh ? UNWIND_SOURCE_EH_FRAME : UNWIND_SOURCE_DEBUG_FRAME,
			       &ranges, err) &&
	       unwind_ranges_rows(&ranges, rows, err);
}
