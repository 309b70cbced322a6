// SPDX-License-Identifier: Apache-2.0
/*
 * limits - the bounds of what is stored and read back.
 *
 * A row is one row of the tables chunk_raw, chunk or rollup. Other programs may write to the
 * database, so a reader checks the counts and lengths of a row against CHUNK_*_MAX before it
 * allocates memory. The writer stays far below these limits.
 */
#pragma once

enum {
	CHUNK_RAW_MAX = 1 << 28,    /* bytes of all columns of a row, decompressed */
	CHUNK_MEMORY_MAX = 1 << 30, /* bytes of memory to decode a row, including columns */
	CHUNK_FRAMES_MAX = 1 << 27, /* frames of all stacks of a row, before front-coding */

	/* Limits of a row that is written; beyond them another row starts. A row of one sample may
	 * exceed them: the labels and names of a sample are bounded far below the limits for
	 * reading. */
	ROW_SAMPLES_MAX = 1 << 20,
	ROW_RAW_MAX = 1 << 23,    /* bytes of all columns; decoding needs up to 70 times as much */
	ROW_FRAMES_MAX = 1 << 25, /* frames of all stacks, before front-coding */
	ROW_SLICE_RAW = 1 << 16,  /* bytes of a slice's columns; beyond: another slice */

	UPSERT_ROWS = 1000, /* rows of one upsert in a pipeline */

	RECEIVED_RANGES_MAX = 1024, /* missing ranges of a spool; beyond: the oldest becomes gap */
	BALANCE_REASONS_MAX = 64,   /* reasons of one host in the fleet; beyond: "other" */
	PARTITIONS_CACHED_MAX = 4096, /* cached names of partitions; beyond: the cache is emptied */

	LOCK_TIMEOUT_MS = 50,      /* of DDL: inserts wait behind a DDL statement that waits */
	LOCK_TRIES = 200,          /* attempts to create one partition */
	DETACH_TIMEOUT_MS = 30000, /* DETACH waits for each query; blocks no other statement */
	FINALIZE_TIMEOUT_MS = 250, /* of FINALIZE, which blocks the creation of partitions */
	PARTITION_AHEAD_MS = 3600 * 1000, /* partitions are created this long before their start */
	CLOCK_APART_MS =
		60000, /* local clock ahead of the server's; beyond: a warning in the log */

	/* Limits of one transaction of compaction; further rows are left for another transaction. A
	 * single row may exceed them. */
	COMPACT_ROWS_MAX = 1024,
	COMPACT_SAMPLES_MAX = 1 << 19,
	COMPACT_FEW_SAMPLES = 1 << 14, /* a bucket with fewer samples is coalesced, not merged */
	COMPACT_BYTES_MAX = 8 << 20,   /* of payloads */
	COMPACT_MEMORY_MAX = 64 << 20, /* bytes of decoded rows; beyond, no further row is read */
	ROLLUP_SAMPLES_MAX = 1 << 24,  /* samples of one rollup: only the sums are in memory */
	ROLLUP_BYTES_MAX = 64 << 20,   /* of payloads, of one rollup */
	ROLLUP_WAIT_MS =
		15 * 60 * 1000, /* from the end of an hour plus --compaction-age to its rollup */
	ROLLUP_DAY_WAIT_MS =
		60 * 60 * 1000,            /* from the rollup of the last hour to that of the day */
	COMPACT_GRACE_MS = 15 * 60 * 1000, /* merged rows stay, for queries that began before */

	READ_ROWS = 256,              /* directories fetched at a time */
	READ_PAYLOAD_BYTES = 2 << 20, /* payloads fetched at a time */
	READ_ALONE_BYTES = 4 << 20,   /* payloads read before worker connections start */
	READERS_MAX = 16,             /* connections of one query */
	MATCH_PAIRS_SENT_MAX = 4096,  /* pairs of a predicate that the index tests */
	MATCH_PAIRS_AT_ONCE = 32,     /* pairs in one index lookup */
	SERIES_AT_ONCE = 10000,       /* rows of series fetched at a time */
	SERIES_SAMPLED = 256,         /* rows that estimate how many series match a selector */
	SERIES_MANY = 1 << 14, /* estimated series per day; from here on read a short window */
	SERIES_WINDOW_MS_MAX = 3 * 3600 * 1000, /* maximum length of a short window */
	SERIES_OF_WINDOW_MAX = 1 << 19,         /* series of a short window looked up by id */
	QUERY_SERIES_BYTES_MAX = 1 << 30,       /* memory of the series that a query matches */

	/* Maximum duration of a snapshot: a partition must exist at least this long after it has
	 * been replaced. */
	QUERY_TIMEOUT_MAX_MS = 10 * 60 * 1000,

	SHARES_MAX = 100000,    /* links in the database; expired ones count for one more day */
	SHARE_STORE_MS = 20000, /* each wait for PostgreSQL while a link is stored */

	LATE_MS = 3600 * 1000,     /* a row with an older sample at its arrival is marked late */
	AHEAD_MS = 10 * 60 * 1000, /* how far ahead of its arrival a sample may be */
};
