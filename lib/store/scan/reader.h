// SPDX-License-Identifier: Apache-2.0
/*
 * reader - a read-only connection to PostgreSQL, and the snapshot that a query reads.
 *
 *     store_reader_begin(&reader, &bounds, err);
 *     ... functions of store/read/, "store/fleet/fleet.h", "store/share.h"
 *     store_reader_end(&reader);
 *
 * Everything read between begin and end belongs to one snapshot. After an error, statements of the
 * same snapshot may fail: end the snapshot. Failures of PostgreSQL are ERR_IO. If the bounds
 * end, the error is ERR_TIMEOUT or ERR_CANCELLED. One thread per reader.
 */
#pragma once

#include "client/postgres.h"
#include "store/scan/store_stats.h"
#include "store/store_bounds.h"

struct store_reader_options {
	const char *postgres; /* libpq conninfo or URI; must outlive the reader */
	uint64_t wait_ms;     /* limit of each wait for the server; 0: QUERY_TIMEOUT_MAX_MS */
	const struct cancel *cancel; /* ends waits, unless the bounds have a token; may be NULL */
};

/* A range [start_ms, end_ms) of which retention has left only hourly sums. */
struct store_gap {
	uint64_t start_ms, end_ms;
};

enum { STORE_GAPS_MAX = 2 };

struct store_reader {
	struct store_stats stats; /* since store_reader_begin() */
	/* Gaps in the result of the last query for samples, if it needed more than sums. */
	struct store_gap gaps[STORE_GAPS_MAX];
	size_t gap_count;
	/* private */
	struct postgres pg;
	struct store_reader_options options;
	struct store_bounds bounds; /* of the current query */
};

/*
 * Connects. Overwrites *reader and copies the options, but not their texts. ERR_IO: no connection;
 * store_reader_begin() tries again, and store_reader_close() is accepted.
 */
bool store_reader_open(struct store_reader *reader, const struct store_reader_options *options,
		       struct err *err) MUST_CHECK;

/* Disconnects. Accepts {0}, and a reader that is closed already or whose open failed. */
void store_reader_close(struct store_reader *reader);

/*
 * Begins a snapshot and resets `stats`; reconnects if the connection was lost. Until
 * store_reader_end(), every call ends within the bounds or fails; if PostgreSQL is still executing
 * then, the connection is closed, which cancels the query. The bounds are copied, but not the
 * cancellation token. NULL bounds, or a later deadline than QUERY_TIMEOUT_MAX_MS from now, mean
 * that deadline: retention relies on it. ERR_NOT_FOUND: the tables do not exist yet. ERR_IO:
 * PostgreSQL failed.
 */
bool store_reader_begin(struct store_reader *reader, const struct store_bounds *bounds,
			struct err *err) MUST_CHECK;

/*
 * Ends the snapshot; call it also after a failure, and after a failed begin or join. Cannot fail: a
 * connection that does not respond is closed, and the next begin reconnects.
 */
void store_reader_end(struct store_reader *reader);

/*
 * Writes the id of the reader's snapshot, with a NUL, into ret_snapshot[size]; 64 bytes suffice.
 * Other readers can join the snapshot until this reader ends it. ERR_IO.
 */
bool store_reader_export(struct store_reader *reader, char *ret_snapshot, size_t size,
			 struct err *err) MUST_CHECK;

/*
 * Begins the snapshot with that id in another reader, which needs only its options: it connects if
 * necessary. `bounds` is not NULL and is copied as by store_reader_begin(); `stats` is not reset.
 * ERR_IO: no connection, or the snapshot does not exist any more.
 */
bool store_reader_join(struct store_reader *reader, const char *snapshot,
		       const struct store_bounds *bounds, struct err *err) MUST_CHECK;
