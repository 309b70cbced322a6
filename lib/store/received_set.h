// SPDX-License-Identifier: Apache-2.0
/*
 * seen - which batches of one spool have been counted: the highest number and what is missing
 * below.
 *
 *     highest = 9, missing = { [4,5], [8,8] }  ──►  1 2 3 6 7 9 were seen
 *
 * Numbers begin at 1 and are given without gaps, so all that is needed to tell a new batch from one
 * that came before, or late, is this. A host may move to another partition and its batches may then
 * arrive out of order: that is why the ranges below the highest are kept, up to
 * RECEIVED_RANGES_MAX. The oldest range beyond is given up and its numbers are booked as gap. Pure.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "store/limits.h"

/* Both ends belong to it. */
struct seen_range {
	uint64_t first, last;
};

struct seen {
	uint64_t highest;
	uint64_t gap;               /* numbers given up for ever */
	struct seen_range *missing; /* ascending, apart by at least one number */
	size_t missing_count, missing_cap;
};

enum seen_verdict {
	SEEN_NEW,       /* above the highest */
	SEEN_LATE,      /* below it and missing until now */
	SEEN_DUPLICATE, /* counted before, or given up */
	SEEN_VERDICT_COUNT,
};

/* Decide and remember. Ranges grow in the arena. `sequence` is at least 1. */
enum seen_verdict seen_take(struct seen *set, uint64_t sequence, struct arena *arena);

/* Whether seen_take() would say SEEN_DUPLICATE. */
bool seen_has(const struct seen *set, uint64_t sequence);

/* How many numbers below the highest have not come. */
uint64_t seen_missing(const struct seen *set);

/* How many of them are below that number. */
uint64_t seen_missing_below(const struct seen *set, uint64_t sequence);

/*
 * The missing ranges as PostgreSQL's int8multirange, `{[4,6),[8,9)}`, and back. ERR_INVALID when
 * the text is not in that canonical form or holds more than RECEIVED_RANGES_MAX.
 */
str seen_missing_text(const struct seen *set, struct arena *arena);
bool seen_missing_parse(str text, struct arena *arena, struct seen *ret_seen,
			struct err *err) MUST_CHECK;
