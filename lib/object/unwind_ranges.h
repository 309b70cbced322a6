// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_ranges - the ranges of code that somebody can tell rows of, from several sources.
 *
 * They may be added in any order, overlap, or be rubbish: what is no code of the file is left out.
 * Where two speak of the same address, that of the better source holds; of one source's the one
 * that begins last, until it ends or the next one begins.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"
#include "object/elf_file.h"
#include "unwind_rows.h"

/* Better ones first. */
enum unwind_range_source {
	UNWIND_SOURCE_SIGNAL, /* where a signal's handler returns to */
	UNWIND_SOURCE_GO,     /* .gopclntab; the .debug_frame of Go does not know frame pointers */
	UNWIND_SOURCE_EH_FRAME,
	UNWIND_SOURCE_DEBUG_FRAME,
	UNWIND_SOURCE_FIXED,    /* code that is known to be of some kind, and nobody speaks of */
	UNWIND_SOURCE_FOLLOWED, /* what the code itself does to the stack */
	UNWIND_SOURCE_COUNT
};

struct unwind_range {
	uint32_t start, end;     /* from the rows' base */
	uint32_t at, len, index; /* for the source, to find it again */
	enum unwind_range_source source;
	uint32_t order; /* in which they were added */
};

struct unwind_row_source {
	/* Adds the rows of a range, of which the end may have been cut off. */
	void (*rows_add)(void *self, const struct unwind_range *range, struct unwind_rows *rows);
	void *self;
};

struct unwind_ranges {
	struct unwind_row_source row_sources[UNWIND_SOURCE_COUNT];
	/* private */
	VEC(struct unwind_range) items;
	struct arena *arena;
	const struct elf_file *elf;
	uint64_t base, memory_max;
};

/* ERR_LIMIT: the file's code does not fit a table. */
bool unwind_ranges_init(struct unwind_ranges *ranges, const struct elf_file *elf,
			uint64_t memory_max, struct arena *arena, struct err *err) MUST_CHECK;

/* start and len are addresses of the file; those of the range need not be set. */
void unwind_ranges_add(struct unwind_ranges *ranges, uint64_t start, uint64_t len,
		       struct unwind_range range);

static inline size_t unwind_ranges_count(const struct unwind_ranges *ranges)
{
	return ranges->items.len;
}

/* False, with ERR_LIMIT, once it is too much: to be asked now and then while adding. */
bool unwind_ranges_fit(const struct unwind_ranges *ranges, struct err *err) MUST_CHECK;

/* All rows. ERR_LIMIT: more than a table may have. */
bool unwind_ranges_rows(struct unwind_ranges *ranges, struct unwind_rows *rows,
			struct err *err) MUST_CHECK;
