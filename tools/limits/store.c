// SPDX-License-Identifier: Apache-2.0
/* Bounds of lib/store/limits.h. */
#include "limits/limit.h"
#include "store/limits.h"

#define ROW_REFUSED "the query fails with a sentence, `decima_querier_unreadable_rows_total`"
#define ANOTHER_ROW "another row, `decima_ingester_rows_total`"

static const struct limit rows[] = {
	LIMIT(CHUNK_RAW_MAX, BYTES, "all columns of a row, decompressed", ROW_REFUSED),
	LIMIT(CHUNK_MEMORY_MAX, BYTES, "memory that reading a row takes", ROW_REFUSED),
	LIMIT(CHUNK_FRAMES_MAX, COUNT, "frames of all stacks of a row, written out", ROW_REFUSED),
	LIMIT(ROW_SAMPLES_MAX, COUNT, "samples of a row that is written", ANOTHER_ROW),
	LIMIT(ROW_RAW_MAX, BYTES, "all columns of a row that is written", ANOTHER_ROW),
	LIMIT(ROW_FRAMES_MAX, COUNT, "frames of all stacks of a row that is written", ANOTHER_ROW),
	LIMIT(UPSERT_ROWS, COUNT, "rows of one statement", "another statement"),
	LIMIT(SEEN_RANGES_MAX, COUNT, "ranges of missing batches of a spool",
	      "the oldest is given up, `decima_ingester_gap_batches_total`"),
	LIMIT(SUM_REASONS_MAX, COUNT, "reasons of one host in the fleet",
	      "samples of further ones add up under `other`"),
	LIMIT(PARTITIONS_KNOWN_MAX, COUNT, "names of tables that are held",
	      "all are forgotten and asked for again"),
	LIMIT(LOCK_TIMEOUT_MS, MS, "a wait for a lock that makes others wait", "it is tried again"),
	LIMIT(LOCK_TRIES, COUNT, "such tries",
	      "an error in the log; tried again a minute later, or with the next flush "
	      "(`decima_ingester_flush_errors_total`)"),
	LIMIT(DETACH_TIMEOUT_MS, MS, "a wait for each query that saw a partition past its time",
	      "tried again a minute later"),
	LIMIT(FINALIZE_TIMEOUT_MS, MS,
	      "the same where it was cut short: who makes a partition waits for that",
	      "tried again a minute later"),
	LIMIT(PARTITION_AHEAD_MS, MS, "a partition before its time",
	      "who needs one sooner makes it"),
	LIMIT(CLOCK_APART_MS, MS, "our clock ahead of PostgreSQL's",
	      "a warning in the log; retention goes by PostgreSQL's in any case"),
	LIMIT(COMPACT_ROWS_MAX, COUNT, "rows merged at a time", PACE),
	LIMIT(COMPACT_SAMPLES_MAX, COUNT, "their samples", PACE),
	LIMIT(COMPACT_BYTES_MAX, BYTES, "their payloads", PACE),
	LIMIT(COMPACT_HELD_MAX, BYTES, "what was read of them, in memory", PACE),
	LIMIT(ROLLUP_SAMPLES_MAX, COUNT, "samples, or sums, that one transaction sums up",
	      "nothing is lost: it is a pace"),
	LIMIT(ROLLUP_BYTES_MAX, BYTES, "their payloads", "nothing is lost: it is a pace"),
	LIMIT(ROLLUP_WAIT_MS, MS, "how long an hour that is over waits for what comes late",
	      "what comes later makes further rows"),
	LIMIT(ROLLUP_DAY_WAIT_MS, MS, "more, until a day is summed up",
	      "what comes later makes further sums"),
	LIMIT(COMPACT_GRACE_MS, MS, "what was merged stays for queries that began before", PACE),
	LIMIT(READ_ROWS, COUNT, "directories of rows fetched at a time", PACE),
	LIMIT(READ_PAYLOAD_BYTES, BYTES, "payloads asked for at a time", PACE),
	LIMIT(READ_ALONE_BYTES, BYTES, "payloads of a query read by one connection",
	      "others of its `--query-connections` help"),
	LIMIT(READERS_MAX, COUNT, "what `--query-connections` may be", "an error at the start"),
	LIMIT(MATCH_PAIRS_SENT_MAX, COUNT, "label values a regular expression may become",
	      "the series are looked through instead: slower"),
	LIMIT(MATCH_PAIRS_AT_ONCE, COUNT, "those asked of the index together", PACE),
	LIMIT(QUERY_SERIES_BYTES_MAX, BYTES, "memory of the series a query matches",
	      "422 `execution` with a sentence, `decima_querier_errors_total`"),
	LIMIT(QUERY_TIMEOUT_MAX_MS, MS, "what `--query-timeout` may be", "an error at the start"),
	LIMIT(SHARES_MAX, COUNT, "shared links; those that expired count for a day more",
	      "422 `execution`, `decima_querier_share_refusals_total{reason=\"full\"}`"),
	LIMIT(SHARE_STORE_MS, MS, "each wait for PostgreSQL while a link is stored",
	      "503 with a sentence, `decima_querier_errors_total`"),
	LIMIT(LATE_MS, MS, "how late a row's oldest sample may be",
	      "the row is marked late and looked for apart"),
	LIMIT(AHEAD_MS, MS, "how far ahead of its arrival a sample may be",
	      "see AHEAD_MAX_MS: nothing further ahead is stored"),
};

const struct limit_table store_limits = TABLE("lib/store/limits.h", rows);
