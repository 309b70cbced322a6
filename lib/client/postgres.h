// SPDX-License-Identifier: Apache-2.0
/*
 * postgres - one connection to PostgreSQL (libpq).
 *
 * Parameters and results are binary; what a value looks like is said by postgres_value.h. A failed
 * call leaves the server's SQLSTATE in `sqlstate`, so that callers decide by code and not by text;
 * it is empty when the connection itself failed.
 *
 * Every wait for the server, to be heard as well as to hear, ends at `deadline_ms`, and
 * POSTGRES_STOP_MS after a stop was asked for. Then, and whenever the connection is lost,
 * postgres_is_open() is false: what was not committed is undone, and the caller opens it again. One
 * thread per connection.
 *
 *     CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };
 *     struct postgres_param day = postgres_date(&arena, 20778);
 *     if (!postgres_query(&pg, "SELECT id FROM series WHERE day = $1", &day, 1, &rows, err))
 *             return false;
 */
#pragma once

#include "base/err.h"
#include "base/stop.h"
#include "client/postgres_value.h"

struct pg_conn;
struct pg_result;

/* What is under way when a stop is asked for may go on for so long. */
enum { POSTGRES_STOP_MS = 2000 };

struct postgres {
	char sqlstate[6]; /* of the last failure; "" where the server did not speak */
	/* private */
	struct pg_conn *connection;
	uint64_t deadline_ms;
	const struct stop *stop;
	uint64_t bound_ns; /* this and the next: postgres_bound() */
	const struct stop *bound_stop;
};

struct postgres_options {
	const char *conninfo;    /* keyword=value or postgresql:// */
	const char *application; /* as pg_stat_activity shows it */
	const char *settings;    /* "-c name=value ...", or NULL */
	uint64_t deadline_ms;    /* for each wait; 0: 60 s */
	const struct stop *stop; /* ends every wait; NULL: nobody asks */
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
 * Each host gets 5 s, or deadline_ms where that is less. Only a resolver that is asked for a host's
 * name is waited for without regard to either.
 */
bool postgres_open(struct postgres *pg, const struct postgres_options *options,
		   struct err *err) MUST_CHECK;
void postgres_close(struct postgres *pg);

/*
 * For a connection that serves many, one after another: until the next call waits end at ends_ns as
 * well (monotonic; 0: no such bound), and as soon as `stop` is asked, without a grace (NULL: the
 * one it was opened with, as before). The connection is then closed, and a server with
 * client_connection_check_interval ends what it was doing.
 */
void postgres_bound(struct postgres *pg, uint64_t ends_ns, const struct stop *stop);

/* False: never opened, closed, or lost. */
bool postgres_is_open(const struct postgres *pg);

/* The same, after a look at whether an idle server has hung up meanwhile. Does not wait. */
bool postgres_is_there(struct postgres *pg);

/* Sleep between two tries. False: a stop was asked for. */
bool postgres_sleep(const struct postgres *pg, uint64_t ms);

/* Whether the last failure has that SQLSTATE. */
bool postgres_failed_with(const struct postgres *pg, const char *sqlstate);

/* One or more statements without parameters, whose rows nobody wants. */
bool postgres_exec(struct postgres *pg, const char *sql, struct err *err) MUST_CHECK;

/* One statement. ret_rows must be given to postgres_rows_done(). */
bool postgres_query(struct postgres *pg, const char *sql, const struct postgres_param *params,
		    size_t param_count, struct postgres_rows *ret_rows, struct err *err) MUST_CHECK;
void postgres_rows_done(struct postgres_rows *rows);

/*
 * All statements in one trip and one transaction of their own; the first that fails undoes all.
 * ret_affected: rows changed by all of them together; may be NULL.
 */
bool postgres_pipeline(struct postgres *pg, const struct postgres_statement *statements,
		       size_t count, uint64_t *ret_affected, struct err *err) MUST_CHECK;

/*
 * `COPY ... FROM STDIN (FORMAT binary)`: rows made with postgres_copy_row() and so on, ended by
 * postgres_copy_end().
 */
bool postgres_copy(struct postgres *pg, const char *sql, str bytes, struct err *err) MUST_CHECK;

/* A value of a row; an empty str with a NULL ptr when it is NULL. It lives as long as the rows. */
str postgres_get(const struct postgres_rows *rows, size_t row, size_t column);

/* int2, int4, int8, oid; 0 when NULL. */
int64_t postgres_get_i64(const struct postgres_rows *rows, size_t row, size_t column);

/* Rows changed by an INSERT, UPDATE or DELETE. */
uint64_t postgres_affected(const struct postgres_rows *rows);
