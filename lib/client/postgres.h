// SPDX-License-Identifier: Apache-2.0
/*
 * postgres - one connection to PostgreSQL (libpq).
 *
 * Parameters and results are binary; postgres_value.h encodes and decodes them. Failures are
 * ERR_IO unless a function states another code; ERR_BUSY: lock_timeout passed. A failed call sets
 * `sqlstate` to the server's SQLSTATE, so that callers decide by code and not by text; it is empty
 * if the connection failed.
 *
 * Every wait for the server, to send or to receive, ends after `deadline_ms` (ERR_IO), and
 * POSTGRES_CANCEL_MS after a cancellation (ERR_CANCELLED). In both cases, and whenever the
 * connection is lost, the connection is closed (postgres_is_open() is false), uncommitted work is
 * rolled back by the server, and the caller opens it again. A connection is used by one thread at a
 * time.
 *
 *     CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
 *     struct postgres_param day = postgres_date(&arena, 20778);
 *     if (!postgres_query(&pg, "SELECT id FROM series WHERE day = $1", &day, 1, &rows, err))
 *             return false;
 */
#pragma once

#include "base/cancel.h"
#include "base/err.h"
#include "client/postgres_value.h"

struct pg_conn;
struct pg_result;

/* Grace period of work in progress after a cancellation. */
enum { POSTGRES_CANCEL_MS = 2000 };

struct postgres {
	char sqlstate[6]; /* of the last failure; "": not reported by the server */
	/* private */
	struct pg_conn *connection;
	uint64_t deadline_ms;
	const struct cancel *cancel;
	uint64_t bound_ns; /* this field and the next: see postgres_set_bounds() */
	const struct cancel *bound_cancel;
};

struct postgres_options {
	const char *conninfo;        /* keyword=value or postgresql://; what it sets wins */
	const char *application;     /* application_name in pg_stat_activity */
	const char *settings;        /* "-c name=value ...", or NULL */
	uint64_t deadline_ms;        /* of each wait; 0: 60 s */
	const struct cancel *cancel; /* ends every wait; NULL: not cancellable */
};

struct postgres_statement {
	const char *sql;
	const struct postgres_param *params;
	size_t param_count;
};

struct postgres_rows {
	size_t count;
	struct pg_result *result; /* private */
};

/*
 * Connect. `options` is not kept, but its `cancel` must live until the close. ERR_IO: no host
 * accepts the connection. ERR_CANCELLED: the wait was cancelled. ERR_INVALID: conninfo is
 * malformed, or its client_encoding is not UTF8. The connection is then closed. Each host of
 * conninfo gets 5 s, or its connect_timeout, or deadline_ms if that is less; so does the resolution
 * of the name of the first one. Names of further hosts are resolved by libpq, without a bound.
 */
bool postgres_open(struct postgres *pg, const struct postgres_options *options,
		   struct err *err) MUST_CHECK;

/* A zeroed or closed connection is accepted. */
void postgres_close(struct postgres *pg);

/*
 * For a pooled connection that serves one request after another. Until the next call of this
 * function, waits also end at ends_ns (monotonic; 0: no such bound; ERR_TIMEOUT), and immediately,
 * without a grace period, when `cancel` is cancelled (NULL: the token of postgres_open() with its
 * grace period). The connection is then closed, and a server with client_connection_check_interval
 * cancels the query.
 */
void postgres_set_bounds(struct postgres *pg, uint64_t ends_ns, const struct cancel *cancel);

/* False: never opened, closed, or lost. */
bool postgres_is_open(const struct postgres *pg);

/* As postgres_is_open(), but first checks whether the server has closed an idle connection, and
 * closes it then. Does not wait. */
bool postgres_is_alive(struct postgres *pg);

/* Sleep before a retry. False: cancelled. */
bool postgres_sleep(const struct postgres *pg, uint64_t ms);

/* Whether the last failure has this SQLSTATE. */
bool postgres_failed_with(const struct postgres *pg, const char *sqlstate);

/* Run one or more statements without parameters and discard their rows. */
bool postgres_exec(struct postgres *pg, const char *sql, struct err *err) MUST_CHECK;

/* Run one statement with at most 40 parameters, which are borrowed during the call. The caller
 * frees *ret_rows with postgres_rows_done(), which accepts zeroed rows. */
bool postgres_query(struct postgres *pg, const char *sql, const struct postgres_param *params,
		    size_t param_count, struct postgres_rows *ret_rows, struct err *err) MUST_CHECK;
void postgres_rows_done(struct postgres_rows *rows);

/*
 * Run all statements in one round trip and one transaction; if one fails, all are rolled back.
 * *ret_affected is the number of rows changed by all of them together; it may be NULL.
 */
bool postgres_pipeline(struct postgres *pg, const struct postgres_statement *statements,
		       size_t count, uint64_t *ret_affected, struct err *err) MUST_CHECK;

/*
 * Run `COPY ... FROM STDIN (FORMAT binary)`. `bytes` are the rows as the postgres_copy_*()
 * functions write them, from postgres_copy_begin() to postgres_copy_end(). ERR_INVALID: `sql` is
 * not a COPY.
 */
bool postgres_copy(struct postgres *pg, const char *sql, str bytes, struct err *err) MUST_CHECK;

extern struct failpoint failpoint_in_copy; /* in postgres_copy(), for the table of a program */

/* A value of a row; NULL is an empty str with a NULL ptr. Valid as long as the rows. */
str postgres_get(const struct postgres_rows *rows, size_t row, size_t column);

/* A value of type int2, int4, int8 or oid; 0 if it is NULL. */
int64_t postgres_get_i64(const struct postgres_rows *rows, size_t row, size_t column);

/* The number of rows changed by an INSERT, UPDATE or DELETE. */
uint64_t postgres_affected(const struct postgres_rows *rows);
