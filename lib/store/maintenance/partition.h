// SPDX-License-Identifier: Apache-2.0
/*
 * partition - the daily and hourly partitions of the large tables.
 *
 * A partition is named TABLE_YYYYMMDD or TABLE_YYYYMMDDHH, in UTC. It is created as a separate
 * table and then attached, so that it does not wait for running queries. Several ingesters may
 * create the same partition at once. One thread per connection; `pg` must be open and outside a
 * transaction.
 */
#pragma once

#include "client/postgres.h"

enum partition_table {
	PARTITION_LABEL_PAIR,
	PARTITION_SERIES,
	PARTITION_CHUNK_RAW,
	PARTITION_CHUNK,
	PARTITION_ROLLUP,
	PARTITION_TABLE_COUNT,
};

struct partition_table_kind {
	const char *name;
	uint64_t span_ms; /* of one partition */
};
/* By table. */
extern const struct partition_table_kind partition_tables[PARTITION_TABLE_COUNT];

/* The name of the partition that contains the time, in the arena. */
str partition_name(enum partition_table table, uint64_t unix_ms, struct arena *arena);

/*
 * Parses a partition's name; *ret_start_ms is the start of its range, Unix ms. False: not a
 * partition name of the table; *ret_start_ms is then unchanged.
 */
bool partition_name_parse(enum partition_table table, str name, uint64_t *ret_start_ms) MUST_CHECK;

/*
 * Attaches a partition again that was detached. Tries once. ERR_INVALID: not a partition name of
 * the table. ERR_BUSY: a lock was not available within LOCK_TIMEOUT_MS. ERR_IO: PostgreSQL failed.
 * After a failure nothing has changed.
 */
bool partition_attach(struct postgres *pg, enum partition_table table, str name,
		      struct err *err) MUST_CHECK;

/*
 * Creates the partition that contains the time, unless it exists. *ret_made is false if the
 * partition existed, and after a failure. While locks are unavailable, retries LOCK_TRIES times,
 * which takes up to about LOCK_TRIES * 2 * LOCK_TIMEOUT_MS. ERR_BUSY: a lock stayed
 * unavailable, or the wait for it was cancelled. ERR_IO: PostgreSQL failed. After a failure nothing
 * has changed.
 */
bool partition_make(struct postgres *pg, enum partition_table table, uint64_t unix_ms,
		    bool *ret_made, struct err *err) MUST_CHECK;
