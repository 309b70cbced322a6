// SPDX-License-Identifier: Apache-2.0
/*
 * stats - what an answer took: with every answer, in its body or in its header.
 *
 * Stages follow one another: wait for a connection, find the series, read the rows (decode and
 * merge them too), look for names, and the rest, which is writing the answer.
 */
#pragma once

#include "chassis/json.h"
#include "store/store_stats.h"
#include "symbol_lookup.h"

struct query_stats {
	struct store_stats store;
	struct symbol_lookup_stats names;
	uint64_t began_ns, wait_ns;
};

/* What another question took that is a part of this one. */
void query_stats_add(struct query_stats *stats, const struct query_stats *other);

/* {"series":...,"seconds":{...}}; `write` ends now. */
void query_stats_write(const struct query_stats *stats, struct json *json);
str query_stats_text(const struct query_stats *stats, struct arena *arena);
