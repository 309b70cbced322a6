// SPDX-License-Identifier: Apache-2.0
/*
 * reader - finds samples and labels in PostgreSQL. It never writes.
 *
 * Samples are handed to a sink row by row, so a query's memory does not grow with what it reads.
 * All that one reader reads between store_reader_begin() and store_reader_end() is one snapshot.
 * One thread per reader.
 */
#pragma once

#include "client/postgres.h"
#include "store/store_bounds.h"
#include "store/store_stats.h"

struct store_reader_options {
	const char *postgres;    /* libpq conninfo or URI; must outlive the reader */
	uint64_t wait_ms;        /* for each answer of the server; 0: as long as a query may take */
	const struct stop *stop; /* ends every wait */
};

/* Of what is in [start_ms, end_ms) only sums of whole hours are left. */
struct store_gap {
	uint64_t start_ms, end_ms;
};

enum { STORE_GAPS_MAX = 2 };

struct store_reader {
	struct store_stats stats; /* since store_reader_begin() */
	/* Of the last query for samples: what is missing from it, for which sums do not suffice. */
	struct store_gap gaps[STORE_GAPS_MAX];
	size_t gap_count;
	/* private */
	struct postgres pg;
	struct store_reader_options options;
	struct store_bounds bounds; /* of what began last */
};

/* Connect. */
bool store_reader_open(struct store_reader *reader, const struct store_reader_options *options,
		       struct err *err) MUST_CHECK;
void store_reader_close(struct store_reader *reader);

/*
 * Begin a snapshot; connects again where the connection was lost. ERR_NOT_FOUND: the database has
 * no tables yet. All until store_reader_end() is done within the bounds, or fails: then the
 * connection is closed where PostgreSQL is still at it, so that it ends too. NULL bounds:
 * QUERY_TIMEOUT_MAX_MS, which no bounds may be beyond.
 */
bool store_reader_begin(struct store_reader *reader, const struct store_bounds *bounds,
			struct err *err) MUST_CHECK;
void store_reader_end(struct store_reader *reader);

/* The snapshot, for others to read in it too while it lasts; and joining it. */
bool store_reader_export(struct store_reader *reader, char *ret_snapshot, size_t size,
			 struct err *err) MUST_CHECK;
bool store_reader_join(struct store_reader *reader, const char *snapshot,
		       const struct store_bounds *bounds, struct err *err) MUST_CHECK;
