// SPDX-License-Identifier: Apache-2.0
/*
 * gauge - means over time for profile types that are gauges (heap, goroutines); other types have
 * sums.
 *
 * Each profile of a gauge shows a state. Profiles of one process must not be added up over time,
 * but those of different processes must. A *source* is a process as far as the data identifies it:
 * the samples of a series with the same `pid`. A *profile* of a source is its samples at one time.
 * Over an interval of time:
 *
 *     the mean of a source is the sum of its values / the number of its profiles;
 *     the source exists from the first of its profiles to the last, in whole minutes from the start
 *     of the interval;
 *     its weight is that time / the minutes in which any source of the response exists.
 *
 * So a process that another one replaced is not counted beside it. The weighted mean of each source
 * is rounded to a millionth of the unit, the response to the unit; halves are rounded up.
 *
 *     while reading:  gauge_observe() each row before matchers on samples' own labels are applied;
 *                     add up values by source and by the keys of the response
 *     then:           gauge_sort_times(), and gauge_average() the sums of each interval
 *
 * All memory is in the arena of gauge_new(): nothing must be freed. Only gauge_average() can fail.
 * One thread.
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
	uint64_t interval; /* number of the interval that is being averaged */
};

/* The label of a group that identifies a source; no stored label has this name. */
#define GAUGE_SOURCE STR("\x01source")

/* An empty gauge in the arena. */
struct gauge *gauge_new(struct arena *arena);

/* Records the times at which the sources of the row's samples have profiles. */
void gauge_observe(struct gauge *gauge, const struct sample_set *row);

/* The identity of a sample's source, as a text in the arena. */
str gauge_source_name(const struct sample_set *row, const struct sample *sample,
		      struct arena *arena);

/* Adds the times that another connection has recorded. `other` is only read. */
void gauge_combine(struct gauge *gauge, const struct gauge *other);

/* Sorts the times of each source and removes duplicates. Called once, before gauge_average(). */
void gauge_sort_times(struct gauge *gauge);

/* The sum of the values of one source in an interval, for one key of the response. */
struct gauge_sum {
	struct gauge_source *source;
	uint64_t key;
	int64_t value;
};

/* The source that a group's GAUGE_SOURCE label identifies. NULL: unknown. */
struct gauge_source *gauge_find(const struct gauge *gauge, struct labels group);

/*
 * Replaces the sums of [start_ms, end_ms) by means: one for each key, sorted by key; *count is
 * updated. `sums` must contain all sources of the response. ERR_LIMIT: a mean beyond 64 bits.
 */
bool gauge_average(struct gauge *gauge, struct gauge_sum *sums, size_t *count, uint64_t start_ms,
		   uint64_t end_ms, struct err *err) MUST_CHECK;
