// SPDX-License-Identifier: Apache-2.0
/*
 * gauge - what an answer says of a gauge (heap, goroutines): a mean over time, where other types
 * have a sum.
 *
 * Each profile of a gauge tells a state, so those of one process must not be added up over time,
 * and those of different processes must. A *source* is a process, as far as it can be told: a
 * series, and of it the samples with the same `pid`. A source's *profile* is what it has of one
 * time. Over a interval of time
 *
 *     the mean of a source is the sum of its values / the number of its profiles,
 *     it is there from the first of them to the last, in whole minutes from the interval's start,
 *     and counts for that share of the minutes in which any source of the answer is there.
 *
 * So processes that were replaced by others are not counted beside them. Each source's share is
 * rounded to a millionth of the unit, what an answer shows to the unit; halves up.
 *
 *     while reading:  gauge_observe() each row, before matchers on samples' own labels are tried;
 *                     sum up values by source and whatever the answer is of
 *     then:           gauge_sort_times(), gauge_average() the sums of each interval
 */
#pragma once

#include "base/err.h"
#include "base/map.h"
#include "profile/sample_set.h"

struct gauge_source;

struct gauge {
	/* private */
	struct arena *arena;
	struct map sources;
	uint64_t interval; /* number of the one that is being averaged */
};

/* The label of a group that names a source; no label that is stored has this name. */
#define GAUGE_SOURCE STR("\x01source")

struct gauge *gauge_new(struct arena *arena);
void gauge_observe(struct gauge *gauge, const struct sample_set *row);
str gauge_source_name(const struct sample_set *row, const struct sample *sample,
		      struct arena *arena);

/* What another connection has seen. */
void gauge_combine(struct gauge *gauge, const struct gauge *other);
void gauge_sort_times(struct gauge *gauge);

/* A sum of the values of one source in a interval; `key` says what it is a part of. */
struct gauge_sum {
	struct gauge_source *source;
	uint64_t key;
	int64_t value;
};

struct gauge_source *gauge_find(const struct gauge *gauge, struct labels group);

/*
 * The sums of [start_ms, end_ms) become means, one for each key, sorted by it. All sources of an
 * answer must be among them. ERR_LIMIT: a mean is beyond 64 bits.
 */
bool gauge_average(struct gauge *gauge, struct gauge_sum *sums, size_t *count, uint64_t start_ms,
		   uint64_t end_ms, struct err *err) MUST_CHECK;
