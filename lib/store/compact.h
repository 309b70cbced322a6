// SPDX-License-Identifier: Apache-2.0
/*
 * compact - makes fewer and larger rows of what the flushes left, and sums of whole hours.
 *
 *     chunk_raw   a row per flush and bucket
 *       │ joined  minutes later: few samples, of an hour that is not over, stay in a row of it
 *       │ merged  all of a bucket that arrived in one hour
 *       ▼
 *     chunk       by the hour of its samples
 *       │ rolled  when the hour is over: series and stacks, without times and samples' labels,
 *       │         and once more without instances (rollup_fleet.h); gauges: rollup_gauge.h
 *       ▼
 *     rollup      by the hour
 *       │ folded  when the day is over: sums without instances
 *       ▼
 *     rollup      by the day
 *
 * The same transaction writes the new rows and marks the old ones, so a snapshot sees each sample
 * once: readers take `chunk_raw` rows that were not merged (a joined one is a row like others), and
 * for a whole hour of which a sum is enough `rollup` and the `chunk` rows that were not rolled up.
 * What comes late makes further rows of the same hour; all of them add up.
 *
 * Any number of ingesters may do this at once (compact_job.h). A transaction takes about a second;
 * no flush and no query waits for it. A row that cannot be read is marked so and left where it is.
 * One thread.
 */
#pragma once

#include "client/postgres.h"

struct store_compactor_options {
	const char *postgres; /* libpq conninfo or URI */
	uint64_t age_ms;      /* of the oldest row of a bucket before its rows are merged */
	const struct stop *stop;
};

struct compact_counts {
	uint64_t rows, bytes, samples; /* that were put into others */
	uint64_t made, made_bytes;
	uint64_t joined, joined_samples; /* rows made that wait where the others came */
};

struct store_compactor {
	/* read freely: since open */
	struct compact_counts merged, rolled, dayed;
	uint64_t unreadable; /* rows */
	/* private */
	struct store_compactor_options options;
	struct postgres pg;
};

void store_compactor_init(struct store_compactor *compactor,
			  const struct store_compactor_options *options);
void store_compactor_close(struct store_compactor *compactor);

/*
 * Merge rows of the bucket that waits longest, or sum up an hour; connects where need be.
 * ret_found false: nothing is old enough, or others are at it. A failure has changed nothing.
 */
bool store_compact(struct store_compactor *compactor, bool *ret_found, struct err *err) MUST_CHECK;
