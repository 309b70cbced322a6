// SPDX-License-Identifier: Apache-2.0
/*
 * store_stats - what it took to find what was asked for.
 */
#pragma once

#include "base/base.h"

struct store_stats {
	uint64_t series;     /* that the selector's series labels match */
	uint64_t rows;       /* stored rows that can hold samples of the window and these series */
	uint64_t chunks;     /* those of them whose payload was read */
	uint64_t bytes;      /* of these payloads */
	uint64_t unreadable; /* rows that are damaged or beyond a limit; each fails its question */
	uint64_t samples_read, samples_matched;
	uint64_t connections;      /* beside the first */
	uint64_t find_ns, read_ns; /* for the series, for the rows */
};

/* What a helper did beside it: all but the time. */
static inline void store_stats_add(struct store_stats *stats, const struct store_stats *other)
{
	stats->chunks += other->chunks;
	stats->bytes += other->bytes;
	stats->unreadable += other->unreadable;
	stats->samples_read += other->samples_read;
	stats->samples_matched += other->samples_matched;
	stats->connections += other->connections;
}
