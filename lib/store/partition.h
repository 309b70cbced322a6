// SPDX-License-Identifier: Apache-2.0
/*
 * partition - the days and hours that the big tables are cut into.
 *
 * A partition is named TABLE_YYYYMMDD or TABLE_YYYYMMDDHH, UTC. It is made apart and attached,
 * which waits for nobody's query; several ingesters may want the same one at once.
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

/* Of the partition that holds the time. */
str partition_name(enum partition_table table, uint64_t unix_ms, struct arena *arena);

/* The start of the partition of that name; false: it is no name of the table's partitions. */
bool partition_name_parse(enum partition_table table, str name, uint64_t *ret_start_ms) MUST_CHECK;

/* Attach one again that was detached. */
bool partition_attach(struct postgres *pg, enum partition_table table, str name,
		      struct err *err) MUST_CHECK;

/* Make the partition that holds the time, where it is missing. */
bool partition_make(struct postgres *pg, enum partition_table table, uint64_t unix_ms,
		    bool *ret_made, struct err *err) MUST_CHECK;
