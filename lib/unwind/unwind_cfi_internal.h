// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_cfi - adds the address ranges and rows of .eh_frame and .debug_frame (call frame
 * information).
 *
 * The entries of a section are CIEs (common information entries), with what is common to many
 * functions, and FDEs (frame description entries), one for each function. One thread.
 */
#pragma once

#include "elf/elf_sections.h"
#include "unwind/unwind_program_internal.h"
#include "unwind/unwind_ranges_internal.h"

/* One section. */
struct unwind_cfi {
	const struct unwind_machine *machine;
	struct dwarf_frame_section section;
	bool ends_with_zero; /* an empty entry ends the section: its real length is unknown */
	bool has_signal;     /* some CIE is for signal frames */
	/* private */
	VEC(struct unwind_cie) cies; /* sorted by offset */
	struct unwind_state remembered[UNWIND_REMEMBERED_MAX];
};

/*
 * Adds the ranges of all FDEs and registers the section as the row source `source`. The section
 * must live as long as the ranges. ERR_LIMIT: the ranges exceed their memory_max.
 */
bool unwind_cfi_list(struct unwind_cfi *cfi, enum unwind_range_source source,
		     struct unwind_ranges *ranges, struct err *err) MUST_CHECK;

/*
 * Where the function of a range saves a register: the offset from its CFA. `cfi` is the section
 * that the range is of. False: it saves it at several places, not at its begin, or not at all, or
 * has more instructions than UNWIND_CALL_FRAME_MAX.
 */
bool unwind_cfi_saved(const struct unwind_cfi *cfi, const struct unwind_range *range,
		      uint64_t register_number, struct arena *scratch,
		      int16_t *ret_offset) MUST_CHECK;

/* A file with such sections. */
struct unwind_cfi_file {
	int fd;
	const struct elf_file *elf;
	const struct elf_sections *sections;
	const struct unwind_machine *machine;
	bool has_signal; /* result: one of the sections describes signal frames */
};

/*
 * Finds both sections and adds their ranges. Without section headers, .eh_frame is found by
 * PT_GNU_EH_FRAME. ERR_INVALID: .debug_frame cannot be decompressed; ERR_LIMIT: more than limits.h
 * allows.
 */
bool unwind_cfi_file_list(struct unwind_cfi_file *file, struct unwind_ranges *ranges,
			  struct err *err) MUST_CHECK;
