// SPDX-License-Identifier: Apache-2.0
/*
 * limits - the bounds of what is stored and read back.
 *
 * Rows come from a database that others may write to, so a row's claims are checked against these
 * before memory is taken for them. The writer cuts its rows far below.
 */
#pragma once

enum {
	CHUNK_RAW_MAX = 1 << 28,    /* bytes of all columns of a row, decompressed */
	CHUNK_MEMORY_MAX = 1 << 30, /* bytes that reading a row may take, columns and all */
	CHUNK_FRAMES_MAX = 1 << 27, /* frames of all stacks of a row, written out */

	/* What the writer puts into one row; more makes another. One sample alone may be larger:
	 * its labels and names are bounded far below what is read. */
	ROW_SAMPLES_MAX = 1 << 20,
	ROW_RAW_MAX =
		1 << 23, /* bytes of all columns: what is read of them takes up to 70 times that */
	ROW_FRAMES_MAX = 1 << 25, /* frames of all stacks, written out */
	ROW_SLICE_RAW =
		1 << 16, /* bytes of a slice's columns; then the next series begins another */

	UPSERT_ROWS = 1000, /* rows of one upsert in a pipeline */

	RECEIVED_RANGES_MAX = 1024,  /* of missing numbers of a spool; the oldest beyond: gap */
	BALANCE_REASONS_MAX = 64,    /* of one host in the fleet; beyond: "other" */
	PARTITIONS_KNOWN_MAX = 4096, /* names of tables held; beyond: forgotten, asked again */

	LOCK_TIMEOUT_MS = 50, /* of DDL: whoever waits longer makes inserts wait */
	LOCK_TRIES = 200,
	DETACH_TIMEOUT_MS = 30000,        /* waiting for each query; nobody waits for who does so */
	FINALIZE_TIMEOUT_MS = 250,        /* the same, and who makes a partition waits */
	PARTITION_AHEAD_MS = 3600 * 1000, /* made so long before anybody wants it */
	CLOCK_APART_MS = 60000, /* our clock ahead of the server's; more is said in the log */

	/* What one transaction of compaction merges; more is left for another. One row alone may
	 * have more. */
	COMPACT_ROWS_MAX = 1024,
	COMPACT_SAMPLES_MAX = 1 << 19,
	COMPACT_FEW_SAMPLES = 1 << 14, /* fewer of a bucket wait for the rest of their hour */
	COMPACT_BYTES_MAX = 8 << 20,   /* of payloads */
	COMPACT_HELD_MAX = 64 << 20,   /* bytes of what was read; then no further row is */
	ROLLUP_SAMPLES_MAX = 1 << 24,  /* the same of summing up: only the sums are held */
	ROLLUP_BYTES_MAX = 64 << 20,
	ROLLUP_WAIT_MS = 15 * 60 * 1000, /* after an hour and the age of its rows it is summed up */
	ROLLUP_DAY_WAIT_MS = 60 * 60 * 1000, /* after that of its last hour a day is summed up */
	COMPACT_GRACE_MS = 15 * 60 * 1000,   /* merged rows stay for queries that began before */

	READ_ROWS = 256,              /* directories taken from the server at a time */
	READ_PAYLOAD_BYTES = 2 << 20, /* payloads asked for at a time */
	READ_ALONE_BYTES = 4 << 20,   /* payloads before other connections help to read */
	READERS_MAX = 16,             /* connections of one query */
	MATCH_PAIRS_SENT_MAX = 4096,  /* pairs a regex may become before it is tried here */
	MATCH_PAIRS_AT_ONCE = 32,     /* of them, asked of the index together */
	SERIES_AT_ONCE = 10000,       /* rows of series fetched at a time */
	SERIES_GUESSED_BY = 256,      /* rows that say how many a selector means */
	SERIES_MANY = 1 << 14,        /* of a day, from which on a short window is looked at */
	SERIES_WINDOW_MS_MAX = 3 * 3600 * 1000, /* how short it is */
	SERIES_OF_WINDOW_MAX = 1 << 19,         /* that it may have to be looked up by themselves */
	QUERY_SERIES_BYTES_MAX = 1 << 30,       /* memory of the series a query may match */

	/* The longest that all of one snapshot may take: a partition must not be dropped sooner
	 * after it has been replaced. */
	QUERY_TIMEOUT_MAX_MS = 10 * 60 * 1000,

	SHARES_MAX = 100000,    /* links in the database; those that expired count for a day more */
	SHARE_STORE_MS = 20000, /* each wait for PostgreSQL while one is stored */

	LATE_MS = 3600 * 1000,     /* a row whose oldest sample is older is looked for apart */
	AHEAD_MS = 10 * 60 * 1000, /* how far ahead of its arrival a sample may be */
};
