// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_cfi - the entries of .eh_frame or .debug_frame: ranges of code, and their rows.
 */
#pragma once

#include "object/elf_sections.h"
#include "unwind_program.h"
#include "unwind_ranges.h"

struct unwind_cfi {
	const struct unwind_machine *machine;
	struct dwarf_frame_section section;
	bool ends_with_zero; /* an entry without bytes is the last: what is behind is not known */
	bool has_signal;     /* some of it is told to be a signal's frame */
	/* private */
	VEC(struct unwind_cie) cies; /* sorted by where they are */
	struct unwind_state remembered[UNWIND_REMEMBERED_MAX];
};

/* Adds all ranges that it speaks of, and itself as who tells of them. ERR_LIMIT: too many. */
bool unwind_cfi_list(struct unwind_cfi *cfi, enum unwind_range_source source,
		     struct unwind_ranges *ranges, struct err *err) MUST_CHECK;

struct unwind_cfi_file {
	int fd;
	const struct elf_file *elf;
	const struct elf_sections *sections;
	const struct unwind_machine *machine;
	bool has_signal; /* one of them tells of a signal's frame */
};

/* Adds what both of them tell. ERR_LIMIT: more than limits.h allows. */
bool unwind_cfi_file_list(struct unwind_cfi_file *file, struct unwind_ranges *ranges,
			  struct err *err) MUST_CHECK;
