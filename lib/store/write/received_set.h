// SPDX-License-Identifier: Apache-2.0
/*
 * received_set - the batch numbers of one spool that were received. No I/O;
 * one thread per set.
 *
 *     highest = 9, missing = { [4,5], [8,8] }  ──►  received: 1 2 3 6 7 9
 *
 * {0} is an empty set; its memory is in the arena of the calls. Numbers start at 1 and are assigned
 * without gaps, so the highest number and the missing ranges below it suffice to classify a batch
 * as new, late or duplicate. Batches of a host can arrive out of order after the host moved to
 * another Kafka partition; therefore up to RECEIVED_RANGES_MAX missing ranges are stored. Beyond
 * that the oldest range is given up and its numbers count as gap.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "store/limits.h"

/* Inclusive at both ends. */
struct received_range {
	uint64_t first, last;
};

struct received_set {
	uint64_t highest;               /* 0: nothing was received */
	uint64_t gap;                   /* numbers that were given up */
	struct received_range *missing; /* ascending, not adjacent */
	size_t missing_count, missing_cap;
};

enum received_verdict {
	RECEIVED_NEW,       /* above the highest number */
	RECEIVED_LATE,      /* was missing until now */
	RECEIVED_DUPLICATE, /* was received before, or given up */
	RECEIVED_VERDICT_COUNT,
};

/*
 * Classifies the number and adds it to the set. `sequence` is at least 1. The array of ranges grows
 * in the arena: all calls for a set must use one arena, which outlives the set. Cannot fail.
 */
enum received_verdict received_set_add(struct received_set *set, uint64_t sequence,
				       struct arena *arena);

/* True if adding the number would return RECEIVED_DUPLICATE. */
bool received_set_has(const struct received_set *set, uint64_t sequence);

/* Count of missing numbers. */
uint64_t received_set_missing(const struct received_set *set);

/* Count of missing numbers below `sequence`. */
uint64_t received_set_missing_below(const struct received_set *set, uint64_t sequence);

/*
 * Formats the missing ranges as PostgreSQL's canonical int8multirange, `{[4,6),[8,9)}`, in the
 * arena. Cannot fail.
 */
str received_set_missing_text(const struct received_set *set, struct arena *arena);

/*
 * Parses missing ranges in that form: replaces `missing` of *ret_seen, in the arena, and keeps
 * `highest` and `gap`. ERR_INVALID: the text is not in canonical form, or has more than
 * RECEIVED_RANGES_MAX ranges; *ret_seen is then unchanged.
 */
bool received_set_missing_parse(str text, struct arena *arena, struct received_set *ret_seen,
				struct err *err) MUST_CHECK;
