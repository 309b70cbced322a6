// SPDX-License-Identifier: Apache-2.0
/*
 * query_stats - the cost of a response, reported with each response in its body or a header.
 *
 * A request has these stages, one after the other: wait for a connection, find the series, read the
 * rows (decoding and merging included), symbolize, and write the response, which is the remainder.
 * No function fails. One thread for each request.
 */
#pragma once

#include "querier/symbolize/symbol_lookup.h"
#include "server/json/json.h"
#include "store/scan/store_stats.h"

struct query_stats {
	struct store_stats store;
	struct symbol_lookup_stats symbols;
	uint64_t began_ns, wait_ns; /* began_ns: clock_monotonic_ns() */
};

/* Adds the cost of another query that is a part of this request; wait_ns and began_ns stay. */
void query_stats_add(struct query_stats *stats, const struct query_stats *other);

/* Writes {"series":...,"seconds":{...}}. The stage `write` ends with this call. */
void query_stats_write(const struct query_stats *stats, struct json *json);

/* The JSON of query_stats_write() as a text in the arena, for a header. */
str query_stats_text(const struct query_stats *stats, struct arena *arena);
