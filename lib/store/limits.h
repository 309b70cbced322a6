// SPDX-License-Identifier: Apache-2.0
/*
 * limits - the bounds of what is stored and read back.
 *
 * A row is one row of the tables chunk_raw, chunk or rollup. Other programs may write to the
 * database, so a reader checks the counts and lengths of a row against CHUNK_*_MAX before it
 * allocates memory. The writer stays far below these limits.
 */
#pragma once

#include "base/limit.h"

#define STORE_LIMITS(LIMIT)                                                                        \
	LIMIT(CHUNK_RAW_MAX, 1 << 28, BYTES, "all columns of a row, decompressed", ROW_UNREADABLE) \
	LIMIT(CHUNK_MEMORY_MAX, 1 << 30, BYTES, "memory to decode a row", ROW_UNREADABLE)          \
	LIMIT(CHUNK_FRAMES_MAX, 1 << 27, COUNT, "frames of all stacks of a row, uncompressed",     \
	      ROW_UNREADABLE)                                                                      \
	/* Limits of a row that is written; beyond them another row starts. A row of one sample    \
	 * may exceed them: the labels and names of a sample are bounded far below the limits for  \
	 * reading. */                                                                             \
	LIMIT(ROW_SAMPLES_MAX, 1 << 20, COUNT, "samples of a row that is written", ANOTHER_ROW)    \
	/* To decode them needs up to 70 times as much. */                                         \
	LIMIT(ROW_RAW_MAX, 1 << 23, BYTES, "all columns of a row that is written, uncompressed",   \
	      ANOTHER_ROW)                                                                         \
	LIMIT(ROW_FRAMES_MAX, 1 << 25, COUNT,                                                      \
	      "frames of all stacks of a row that is written, uncompressed", ANOTHER_ROW)          \
	LIMIT(ROW_SLICE_RAW, 1 << 16, BYTES,                                                       \
	      "columns of a slice of a row, without its last series", "another slice of the row")  \
	LIMIT(UPSERT_ROWS, 1000, COUNT, "rows of one upsert statement", "another statement")       \
	LIMIT(RECEIVED_RANGES_MAX, 1024, COUNT, "ranges of missing batches of a spool",            \
	      "the oldest range is given up, `decima_ingester_gap_batches_total`")                 \
	LIMIT(BATCH_HASHES_MAX, 256, COUNT, "hashes of the newest batches of a spool",             \
	      "an older batch with other contents is a duplicate and no conflict, "                \
	      "`decima_ingester_duplicate_batches_total`")                                         \
	LIMIT(BALANCE_REASONS_MAX, 64, COUNT, "reasons of loss of one host in the fleet",          \
	      "samples of further reasons are added to `other`")                                   \
	LIMIT(PARTITIONS_CACHED_MAX, 4096, COUNT, "cached names of partitions",                    \
	      "the cache is emptied and filled again")                                             \
	/* Of DDL: inserts wait behind a DDL statement that waits. */                              \
	LIMIT(LOCK_TIMEOUT_MS, 50, MS, "a wait for a lock that blocks others", "retried")          \
	LIMIT(LOCK_TRIES, 200, COUNT, "retries of a wait for such a lock",                         \
	      "an error in the log; retried a minute later, or with the next flush "               \
	      "(`decima_ingester_flush_errors_total`)")                                            \
	/* Of DETACH, which blocks no other statement. */                                          \
	LIMIT(DETACH_TIMEOUT_MS, 30000, MS,                                                        \
	      "a wait for each query that uses a partition whose retention is over",               \
	      "retried a minute later")                                                            \
	/* Of FINALIZE, which blocks the creation of partitions. */                                \
	LIMIT(FINALIZE_TIMEOUT_MS, 250, MS,                                                        \
	      "the same wait after an interrupted detach; it blocks the creation of partitions",   \
	      "retried a minute later")                                                            \
	LIMIT(PARTITION_AHEAD_MS, 3600 * 1000, MS, "creation of a partition before its start",     \
	      "a flush that needs the partition earlier creates it")                               \
	LIMIT(CLOCK_APART_MS, 60000, MS, "local clock ahead of PostgreSQL's",                      \
	      "a warning in the log; retention uses PostgreSQL's clock")                           \
	/* Limits of one transaction of compaction; further rows are left for another transaction. \
	 * A single row may exceed them. */                                                        \
	LIMIT(COMPACT_ROWS_MAX, 1024, COUNT, "rows merged at a time", PACE)                        \
	LIMIT(COMPACT_SAMPLES_MAX, 1 << 19, COUNT, "samples of rows merged at a time", PACE)       \
	LIMIT(COMPACT_FEW_SAMPLES, 1 << 14, COUNT,                                                 \
	      "samples of a bucket that wait for more samples of their hour",                      \
	      "the samples become a chunk when they are `--compaction-age` old")                   \
	LIMIT(COMPACT_BYTES_MAX, 8 << 20, BYTES, "payloads of rows merged at a time", PACE)        \
	LIMIT(COMPACT_MEMORY_MAX, 64 << 20, BYTES, "memory of rows merged at a time", PACE)        \
	/* Only the sums are in memory. */                                                         \
	LIMIT(ROLLUP_SAMPLES_MAX, 1 << 24, COUNT,                                                  \
	      "samples, or sums, rolled up in one transaction", PACE)                              \
	LIMIT(ROLLUP_BYTES_MAX, 64 << 20, BYTES, "payloads rolled up in one transaction", PACE)    \
	/* From the end of an hour plus --compaction-age. */                                       \
	LIMIT(ROLLUP_WAIT_MS, 15 * 60 * 1000, MS,                                                  \
	      "wait for late samples before an hour is rolled up",                                 \
	      "later samples produce further rows")                                                \
	LIMIT(ROLLUP_DAY_WAIT_MS, 60 * 60 * 1000, MS, "further wait before a day is rolled up",    \
	      "later samples produce further sums")                                                \
	LIMIT(COMPACT_GRACE_MS, 15 * 60 * 1000, MS,                                                \
	      "merged rows are kept for queries that began before", PACE)                          \
	LIMIT(READ_ROWS, 256, COUNT, "directories of rows fetched at a time", PACE)                \
	LIMIT(READ_PAYLOAD_BYTES, 2 << 20, BYTES, "payloads fetched at a time", PACE)              \
	LIMIT(READ_ALONE_BYTES, 4 << 20, BYTES, "payloads of a query read by one connection",      \
	      "more of its `--query-connections` join")                                            \
	LIMIT(READERS_MAX, 16, COUNT, "maximum of `--query-connections`", "an error at startup")   \
	LIMIT(MATCH_PAIRS_SENT_MAX, 4096, COUNT,                                                   \
	      "label values that a regular expression may match",                                  \
	      "the expression is tested on every series instead: slower")                          \
	LIMIT(MATCH_PAIRS_AT_ONCE, 32, COUNT, "label pairs in one index lookup", PACE)             \
	LIMIT(SERIES_AT_ONCE, 10000, COUNT, "series fetched at a time", PACE)                      \
	LIMIT(SERIES_SAMPLED, 256, COUNT, "series that estimate how many match a selector", PACE)  \
	LIMIT(SERIES_MANY, 1 << 14, COUNT,                                                         \
	      "matching series of a day, above which the rows of a short window are read first",   \
	      "with fewer series " INDEX_INSTEAD ": faster")                                       \
	LIMIT(SERIES_WINDOW_MS_MAX, 3 * 3600 * 1000, MS, "length of such a short window",          \
	      "for a longer window " INDEX_INSTEAD)                                                \
	LIMIT(SERIES_OF_WINDOW_MAX, 1 << 19, COUNT,                                                \
	      "series of such a window that are looked up by id",                                  \
	      "with more series " INDEX_INSTEAD ": slower")                                        \
	LIMIT(QUERY_SERIES_BYTES_MAX, 1 << 30, BYTES, "memory of the series that a query matches", \
	      "422 `execution` with an error, `decima_querier_errors_total`")                      \
	/* Maximum duration of a snapshot: a partition must exist at least this long after it has  \
	 * been replaced. */                                                                       \
	LIMIT(QUERY_TIMEOUT_MAX_MS, 10 * 60 * 1000, MS, "maximum of `--query-timeout`",            \
	      "an error at startup")                                                               \
	LIMIT(SHARES_MAX, 100000, COUNT, "shared links; expired ones count for one more day",      \
	      "422 `execution`, `decima_querier_share_rejections_total{reason=\"full\"}`")         \
	LIMIT(SHARE_STORE_MS, 20000, MS, "each wait for PostgreSQL while a link is stored",        \
	      "503 with an error, `decima_querier_errors_total`")                                  \
	LIMIT(LATE_MS, 3600 * 1000, MS, "age of a row's oldest sample at its arrival",             \
	      "the row is marked late and found by a separate search")                             \
	LIMIT(AHEAD_MS, 10 * 60 * 1000, MS, "how far ahead of its arrival a sample may be",        \
	      "see AHEAD_MAX_MS: samples further ahead are not stored")

STORE_LIMITS(LIMIT_CONSTANT)
