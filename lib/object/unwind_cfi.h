/*
 * unwind_cfi - the entries of .eh_frame or .debug_frame, and the rows that they tell.
 *
 * Entries may stand in any order, overlap, or be rubbish: one that speaks of no code of the file is
 * left out; of two for the same code the one that begins last holds until its end, or the next
 * one's beginning.
 */
#pragma once

#include "base/err.h"
#include "object/elf_file.h"
#include "unwind_program.h"

struct unwind_cfi {
	const struct unwind_machine *machine;
	const struct elf_file *elf; /* whose code it is */
	struct unwind_section section;
	uint64_t memory_max; /* of the arena; ERR_LIMIT beyond it */
};

/* ERR_LIMIT: more rows than a table may have. A file without entries has no rows. */
bool unwind_cfi_rows(const struct unwind_cfi *cfi, struct arena *arena, struct unwind_rows *rows,
		     struct err *err) MUST_CHECK;
