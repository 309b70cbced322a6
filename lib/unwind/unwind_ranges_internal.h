// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_ranges - the address ranges that have unwind rows, from several sources.
 *
 * Each source adds its ranges and registers a function that adds the rows of a range. Ranges may be
 * added in any order and may overlap. Input is untrusted: a range outside of the code of the file
 * is dropped. If ranges of two sources cover an address, the better source wins; within one source,
 * the range that begins last wins, until it ends or the next one begins. One thread.
 */
#pragma once

#include "base/err.h"
#include "base/vec.h"
#include "elf/elf_file.h"
#include "unwind/unwind_rows_internal.h"

/* The better source first. */
enum unwind_range_source {
	UNWIND_SOURCE_SIGNAL, /* the code that signal handlers return to */
	UNWIND_SOURCE_GO,     /* .gopclntab; .debug_frame of Go does not describe frame pointers */
	UNWIND_SOURCE_EH_FRAME,
	UNWIND_SOURCE_DEBUG_FRAME,
	UNWIND_SOURCE_FIXED,    /* unwind_fixed_internal.h: code of a known kind */
	UNWIND_SOURCE_FOLLOWED, /* unwind_follow_internal.h: analysis of the code */
	UNWIND_SOURCE_COUNT
};

struct unwind_range {
	uint32_t start, end;     /* from the rows' base */
	uint32_t at, len, index; /* private to the source */
	enum unwind_range_source source;
	uint32_t order; /* in which ranges were added */
};

struct unwind_row_source {
	/* Adds the rows of a range. Its end may be lower than when it was added. */
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

/* Memory is in the arena; elf and the arena are borrowed as long as the ranges are used. ERR_LIMIT:
 * the code of the file spans more than 4 GB. There is nothing to free. */
bool unwind_ranges_init(struct unwind_ranges *ranges, const struct elf_file *elf,
			uint64_t memory_max, struct arena *arena, struct err *err) MUST_CHECK;

/*
 * Adds len bytes from the address `start` of the file. The function sets start, end and order of
 * the range.
 */
void unwind_ranges_add(struct unwind_ranges *ranges, uint64_t start, uint64_t len,
		       struct unwind_range range);

static inline size_t unwind_ranges_count(const struct unwind_ranges *ranges)
{
	return ranges->items.len;
}

/* The range that begins here, an address from the rows' base; NULL: none. Call it after
 * unwind_ranges_rows(). */
const struct unwind_range *unwind_ranges_at(const struct unwind_ranges *ranges, uint32_t start);

/* ERR_LIMIT: the arena exceeds memory_max. Sources call it regularly while they add ranges. */
bool unwind_ranges_fit(const struct unwind_ranges *ranges, struct err *err) MUST_CHECK;

/* The rows of all ranges. ERR_LIMIT: more than UNWIND_ROWS_MAX rows, or memory_max exceeded. */
bool unwind_ranges_rows(struct unwind_ranges *ranges, struct unwind_rows *rows,
			struct err *err) MUST_CHECK;
