// SPDX-License-Identifier: Apache-2.0
/*
 * reader - a read-only connection to PostgreSQL, and the snapshot that a query reads.
 *
 *     store_reader_begin(&reader, &bounds, err);
 *     ... sample_reader.h, series_reader.h, label_reader.h, fleet.h, share.h
 *     store_reader_end(&reader);
 *
 * Everything read between begin and end belongs to one snapshot. One thread per reader.
 */
#pragma once

#include "client/postgres.h"
#include "store/scan/store_stats.h"
#include "store/store_bounds.h"

struct store_reader_options {
	const char *postgres;        /* libpq conninfo or URI; must outlive the reader */
	uint64_t wait_ms;            /* for each response of the server; 0: QUERY_TIMEOUT_MAX_MS */
	const struct cancel *cancel; /* cancels every wait */
};

/* A range [start_ms, end_ms) of which retention has left only hourly sums. */
struct store_gap {
	uint64_t start_ms, end_ms;
};

enum { STORE_GAPS_MAX = 2 };

struct store_reader {
	struct store_stats stats; /* since store_reader_begin() */
	/* Gaps in the result of the last query for samples, which needed more than sums. */
	struct store_gap gaps[STORE_GAPS_MAX];
	size_t gap_count;
	/* private */
	struct postgres pg;
	struct store_reader_options options;
	struct store_bounds bounds; /* of the current query */
};

/* Connects. */
bool store_reader_open(struct store_reader *reader, const struct store_reader_options *options,
		       struct err *err) MUST_CHECK;
void store_reader_close(struct store_reader *reader);

/*
 * Begins a snapshot; reconnects if the connection was lost. ERR_NOT_FOUND: the tables do not exist
 * yet. Every call until store_reader_end() ends within the bounds or fails; if PostgreSQL is still
 * executing then, the connection is closed, which cancels the query. NULL bounds:
 * QUERY_TIMEOUT_MAX_MS, which is also the maximum of any bounds.
 */
bool store_reader_begin(struct store_reader *reader, const struct store_bounds *bounds,
			struct err *err) MUST_CHECK;
void store_reader_end(struct store_reader *reader);

/*
 * Exports the id of the snapshot, and makes another reader join it. The snapshot exists until the
 * exporting reader ends it.
 */
bool store_reader_export(struct store_reader *reader, char *ret_snapshot, size_t size,
			 struct err *err) MUST_CHECK;
bool store_reader_join(struct store_reader *reader, const char *snapshot,
		       const struct store_bounds *bounds, struct err *err) MUST_CHECK;
