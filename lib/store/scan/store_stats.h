// SPDX-License-Identifier: Apache-2.0
/*
 * store_stats - the cost of a query: what was read to find the result. {0} is the start; the counts
 * belong to one reader and its thread.
 */
#pragma once

#include "base/base.h"

struct store_stats {
	uint64_t series;     /* series whose labels match the selector */
	uint64_t rows;       /* stored rows that may contain samples of the query */
	uint64_t chunks;     /* rows whose payload was read */
	uint64_t bytes;      /* bytes of the payloads */
	uint64_t unreadable; /* rows that are corrupt or exceed a limit; each fails its query */
	uint64_t samples_read, samples_matched; /* samples in payloads; those that match */
	uint64_t connections;                   /* opened by workers of the scan */
	uint64_t find_ns, read_ns;              /* time to find series; to read rows */
};

/* Adds the counts of a worker connection. Series, rows and times are counted by the leader only. */
static inline void store_stats_add(struct store_stats *stats, const struct store_stats *other)
{
	stats->chunks += other->chunks;
	stats->bytes += other->bytes;
	stats->unreadable += other->unreadable;
	stats->samples_read += other->samples_read;
	stats->samples_matched += other->samples_matched;
	stats->connections += other->connections;
}
