// SPDX-License-Identifier: Apache-2.0
/*
 * partition - the daily and hourly partitions of the large tables.
 *
 * A partition is named TABLE_YYYYMMDD or TABLE_YYYYMMDDHH, in UTC. It is created as a separate
 * table and then attached, so that it does not wait for running queries. Several ingesters may
 * create the same partition at once.
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
extern const struct partition_table_kind partition_tables[PARTITION_TABLE_COUNT];

/* The name of the partition for that time. */
str partition_name(enum partition_table table, uint64_t unix_ms, struct arena *arena);

/* Parses the start out of a partition's name. False: not a partition name of the table. */
bool partition_name_parse(enum partition_table table, str name, uint64_t *ret_start_ms) MUST_CHECK;

/* Attaches a partition again that was detached. */
bool partition_attach(struct postgres *pg, enum partition_table table, str name,
		      struct err *err) MUST_CHECK;

/* Creates the partition for that time unless it exists; retries while locks are unavailable. */
bool partition_make(struct postgres *pg, enum partition_table table, uint64_t unix_ms,
		    bool *ret_made, struct err *err) MUST_CHECK;
