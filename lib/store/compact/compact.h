// SPDX-License-Identifier: Apache-2.0
/*
 * compact - merges the small rows of flushes into larger ones, and computes hourly and daily sums.
 *
 *     chunk_raw   one row per flush and bucket
 *       │ coalesced  minutes later: while the hour lasts, few samples become one row of chunk_raw
 *       │ merged     all rows of a bucket that arrived within one hour
 *       ▼
 *     chunk       rows by the hour of their samples
 *       │ rolled up  when the hour is over: sums by series and stack, without times and without the
 *       │            samples' own labels; and again without instances (rollup_fleet.h); gauges:
 *       ▼            rollup_gauge_internal.h
 *     rollup      hourly
 *       │ folded     when the day is over: the sums without instances
 *       ▼
 *     rollup      daily
 *
 * One transaction writes the new rows and marks the old ones, so a snapshot contains each sample
 * exactly once. Readers use the `chunk_raw` rows that are not merged (a coalesced row is a row like
 * any other); for a whole hour of which sums suffice, they use `rollup` and the `chunk` rows that
 * are not rolled up. Samples that arrive late produce further rows of the same hour; readers add
 * all of them up.
 *
 * Any number of ingesters may compact at the same time ("store/compact/compact_job_internal.h"). A
 * transaction takes about one second; no flush and no query waits for it. A row that cannot be
 * decoded is marked `unreadable` and stays where it is. One thread per compactor.
 */
#pragma once

#include "client/postgres.h"

struct store_compactor_options {
	const char *postgres;        /* libpq conninfo or URI; must outlive the compactor */
	uint64_t age_ms;             /* minimum age of a bucket's oldest row before it is merged */
	const struct cancel *cancel; /* ends every wait; must outlive the compactor */
};

struct compact_counts {
	uint64_t rows, bytes, samples;         /* compacted: read, and replaced by other rows */
	uint64_t made, made_bytes;             /* rows written */
	uint64_t coalesced, coalesced_samples; /* coalesced rows, written back to chunk_raw */
};

struct store_compactor {
	/* read freely: since init; of the jobs that were committed */
	struct compact_counts merged, rolled_up, daily;
	uint64_t unreadable; /* rows marked unreadable by this compactor */
	/* private */
	struct store_compactor_options options;
	struct postgres pg;
};

/* Overwrites *compactor and copies the options; does not connect. Cannot fail. */
void store_compactor_init(struct store_compactor *compactor,
			  const struct store_compactor_options *options);

/* Disconnects. Accepts a compactor that is {0}, or closed already. */
void store_compactor_close(struct store_compactor *compactor);

/*
 * Runs one compaction job: merges rows of the bucket with the oldest row, or else rolls up an hour,
 * or else a day. Connects if necessary. *ret_found true: rows were due; they were compacted, or a
 * corrupt row was marked, or a missing partition was created: call again at once. *ret_found false:
 * no rows are due, or other ingesters have locked them.
 *
 * A failure changes no row and leaves *ret_found as it was: try again after a delay.
 * ERR_NOT_FOUND: the tables do not exist yet. ERR_IO: PostgreSQL failed. ERR_CANCELLED: the job was
 * cancelled.
 */
bool store_compact(struct store_compactor *compactor, bool *ret_found, struct err *err) MUST_CHECK;
