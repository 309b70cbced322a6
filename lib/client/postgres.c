// SPDX-License-Identifier: Apache-2.0
#include "client/postgres.h"

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "client/postgres_connect.h"

#include <assert.h>
#include <libpq-fe.h>
#include <poll.h>

enum {
	DEADLINE_MS = 60000,
	PARAMS_MAX = 40,
	BINARY = 1,
};

/* SQLSTATE after lock_timeout. There is no such case for 57014: it is a server's timeout or an
 * administrator's cancellation, which only the text, which may be translated, shows. */
static const char LOCK_NOT_AVAILABLE[] = "55P03";

DEFINE_CLEANUP(PGresult *, PQclear)

/* libpq's messages have several lines; keep the first one. */
static bool fail(struct postgres *pg, const PGresult *result, struct err *err, const char *what)
{
	const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
	const char *primary = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
	str message = str_trim(str_from(primary          ? primary
					: pg->connection ? PQerrorMessage(pg->connection)
							 : "not connected"));

	memset(pg->sqlstate, 0, sizeof(pg->sqlstate));
	if (state)
		memcpy(pg->sqlstate, state, sizeof(pg->sqlstate) - 1);
	message = str_cut(&message, '\n');
	return err_set(err, postgres_failed_with(pg, LOCK_NOT_AVAILABLE) ? ERR_BUSY : ERR_IO,
		       "PostgreSQL: %s: " STR_FMT "%s%s%s", what, STR_ARG(message),
		       state ? " (" : "", state ? state : "", state ? ")" : "");
}

/* libpq would print notices on stderr; write them to the log. */
static void on_notice(void *self, const PGresult *result)
{
	const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);

	(void)self;
	log_debug("PostgreSQL notice", "notice=\"%s\"", message ? message : "");
}

bool postgres_open(struct postgres *pg, const struct postgres_options *options, struct err *err)
{
	*pg = (struct postgres){
		.deadline_ms = options->deadline_ms ? options->deadline_ms : DEADLINE_MS,
		.cancel = options->cancel,
	};
	pg->connection = postgres_connect(options, err);
	if (!pg->connection)
		return false;
	PQsetNoticeReceiver(pg->connection, on_notice, NULL);
	if (PQsetnonblocking(pg->connection, 1) == 0)
		return true;
	fail(pg, NULL, err, "connect");
	postgres_close(pg);
	return false;
}

void postgres_close(struct postgres *pg)
{
	if (pg->connection)
		PQfinish(pg->connection);
	pg->connection = NULL;
}

void postgres_set_bounds(struct postgres *pg, uint64_t ends_ns, const struct cancel *cancel)
{
	pg->bound_ns = ends_ns;
	pg->bound_cancel = cancel;
}

bool postgres_is_open(const struct postgres *pg)
{
	return pg->connection && PQstatus(pg->connection) == CONNECTION_OK;
}

/* Read twice: a server that ends the session sends a message before it closes the connection. */
bool postgres_is_alive(struct postgres *pg)
{
	for (int i = 0; i < 2 && postgres_is_open(pg); i++)
		if (!PQconsumeInput(pg->connection))
			postgres_close(pg);
	return postgres_is_open(pg);
}

bool postgres_failed_with(const struct postgres *pg, const char *sqlstate)
{
	return strcmp(pg->sqlstate, sqlstate) == 0;
}

bool postgres_sleep(const struct postgres *pg, uint64_t ms)
{
	return cancel_wait(pg->cancel, ms);
}

/* A wait has ended without a response: close the connection. */
static bool fail_timeout(struct postgres *pg, struct err *err)
{
	postgres_close(pg);
	pg->sqlstate[0] = '\0';
	if (cancel_requested(pg->bound_cancel ? pg->bound_cancel : pg->cancel))
		return err_set(err, ERR_CANCELLED,
			       "PostgreSQL: cancelled while waiting for the server");
	if (pg->bound_ns && clock_monotonic_ns() >= pg->bound_ns)
		return err_set(err, ERR_TIMEOUT, "PostgreSQL did not answer in time");
	return err_set(err, ERR_IO, "PostgreSQL did not answer within %ju ms",
		       (uintmax_t)pg->deadline_ms);
}

/* Wait until the socket is ready for `events`; read what has arrived. */
static bool wait_for_server(struct postgres *pg, short events, uint64_t deadline_ns,
			    struct err *err)
{
	short ready = 0;

	const struct cancel *cancel = pg->bound_cancel ? pg->bound_cancel : pg->cancel;
	uint64_t grace_ms = pg->bound_cancel ? 0 : POSTGRES_CANCEL_MS;

	if (!socket_wait(PQsocket(pg->connection), events, cancel, grace_ms, deadline_ns, &ready))
		return fail_timeout(pg, err);
	if (ready & ~POLLOUT && !PQconsumeInput(pg->connection))
		return fail(pg, NULL, err, "receive response");
	return true;
}

static uint64_t wait_ends_ns(const struct postgres *pg)
{
	uint64_t ends_ns = clock_monotonic_ns() + pg->deadline_ms * NS_PER_MS;

	return pg->bound_ns && pg->bound_ns < ends_ns ? pg->bound_ns : ends_ns;
}

/* Flush the send buffer. Input is read meanwhile, because otherwise both sides could block. */
static bool send_all(struct postgres *pg, struct err *err)
{
	uint64_t deadline_ns = wait_ends_ns(pg);
	int left;

	while ((left = PQflush(pg->connection)) > 0)
		if (!wait_for_server(pg, POLLIN | POLLOUT, deadline_ns, err))
			return false;
	return left == 0 || fail(pg, NULL, err, "send");
}

/* Wait until PQgetResult() does not block. */
static bool wait_for_result(struct postgres *pg, struct err *err)
{
	uint64_t deadline_ns = wait_ends_ns(pg);

	if (!send_all(pg, err))
		return false;
	while (PQisBusy(pg->connection))
		if (!wait_for_server(pg, POLLIN, deadline_ns, err))
			return false;
	return true;
}

static bool is_good(const PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);

	return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_COPY_IN;
}

/*
 * Read results until there are no more, or until the server expects COPY data. If one failed,
 * report the first failure, else return the last result.
 */
static bool read_results(struct postgres *pg, const char *what, PGresult **ret_result,
			 struct err *err)
{
	CLEANUP(PQclearp) PGresult *kept = NULL;

	for (;;) {
		if (!wait_for_result(pg, err))
			return false;

		PGresult *result = PQgetResult(pg->connection);

		if (!result)
			break;
		if (kept && !is_good(kept)) {
			PQclear(result);
			continue;
		}
		if (kept)
			PQclear(kept);
		kept = result;
		if (PQresultStatus(result) == PGRES_COPY_IN)
			break;
	}
	if (!kept || !is_good(kept))
		return fail(pg, kept, err, what);
	*ret_result = TAKE(kept);
	return true;
}

/* The first words of the statement, to identify it in errors. */
static const char *statement_name(const char *sql, char *name, size_t size)
{
	size_t len = 0;

	while (sql[len] && sql[len] != '\n' && sql[len] != '(' && len + 1 < size) {
		name[len] = sql[len];
		len++;
	}
	name[len] = '\0';
	return name;
}

bool postgres_exec(struct postgres *pg, const char *sql, struct err *err)
{
	CLEANUP(PQclearp) PGresult *result = NULL;
	char name[48];

	statement_name(sql, name, sizeof(name));
	if (!pg->connection || !PQsendQuery(pg->connection, sql))
		return fail(pg, NULL, err, name);
	return read_results(pg, name, &result, err);
}

static bool send_statement(struct postgres *pg, const struct postgres_statement *statement)
{
	Oid types[PARAMS_MAX];
	const char *values[PARAMS_MAX];
	int lengths[PARAMS_MAX], formats[PARAMS_MAX];

	assert(statement->param_count <= PARAMS_MAX);
	if (!pg->connection)
		return false;
	for (size_t i = 0; i < statement->param_count; i++) {
		const struct postgres_param *param = &statement->params[i];

		types[i] = (Oid)param->type;
		values[i] = param->bytes.ptr;
		lengths[i] = (int)param->bytes.len;
		formats[i] = BINARY;
	}
	return PQsendQueryParams(pg->connection, statement->sql, (int)statement->param_count, types,
				 values, lengths, formats, BINARY);
}

bool postgres_query(struct postgres *pg, const char *sql, const struct postgres_param *params,
		    size_t param_count, struct postgres_rows *ret_rows, struct err *err)
{
	const struct postgres_statement statement = { sql, params, param_count };
	PGresult *result = NULL;
	char name[48];

	statement_name(sql, name, sizeof(name));
	if (!send_statement(pg, &statement))
		return fail(pg, NULL, err, name);
	if (!read_results(pg, name, &result, err))
		return false;
	*ret_rows = (struct postgres_rows){ (size_t)PQntuples(result), result };
	return true;
}

void postgres_rows_done(struct postgres_rows *rows)
{
	if (rows->result)
		PQclear(rows->result);
	*rows = (struct postgres_rows){ 0 };
}

static bool pipeline_run(struct postgres *pg, const struct postgres_statement *statements,
			 size_t count, uint64_t *affected, struct err *err)
{
	for (size_t i = 0; i < count; i++)
		if (!send_statement(pg, &statements[i]))
			return fail(pg, NULL, err, "send pipeline");
	if (!PQpipelineSync(pg->connection))
		return fail(pg, NULL, err, "send pipeline");

	char state[sizeof(pg->sqlstate)];
	bool good = true;

	/* After a failure the remaining results are "aborted"; ignore their errors. */
	for (size_t i = 0; i < count; i++) {
		CLEANUP(PQclearp) PGresult *result = NULL;
		struct err later;

		if (read_results(pg, "pipeline", &result, good ? err : &later)) {
			*affected += postgres_affected(&(struct postgres_rows){ 0, result });
		} else if (good) {
			memcpy(state, pg->sqlstate, sizeof(state));
			good = false;
		}
		if (!postgres_is_open(pg))
			return false;
	}
	if (!good)
		memcpy(pg->sqlstate, state, sizeof(state));
	if (!wait_for_result(pg, err))
		return false;
	PQclear(PQgetResult(pg->connection)); /* PGRES_PIPELINE_SYNC */
	return good;
}

bool postgres_pipeline(struct postgres *pg, const struct postgres_statement *statements,
		       size_t count, uint64_t *ret_affected, struct err *err)
{
	uint64_t affected = 0;

	if (!pg->connection || !PQenterPipelineMode(pg->connection))
		return fail(pg, NULL, err, "enter pipeline");

	bool good = pipeline_run(pg, statements, count, &affected, err);

	if (pg->connection && !PQexitPipelineMode(pg->connection)) {
		postgres_close(pg); /* unread results remain, in an unknown state */
		return good ? err_set(err, ERR_IO, "PostgreSQL: the pipeline did not end") : false;
	}
	if (!good)
		return false;
	if (ret_affected)
		*ret_affected = affected;
	return true;
}

struct failpoint failpoint_in_copy = {
	.name = "in-copy",
	.where = "PostgreSQL has received half of the bytes of the sample rows.",
};

/* Send in pieces. The first piece is at most half, so that failpoint_in_copy is in the middle. */
static bool copy_data(struct postgres *pg, str bytes, struct err *err)
{
	enum { PIECE = 1 << 20 };
	size_t half = (bytes.len + 1) / 2, most = half < PIECE ? half : PIECE;
	bool begun = false;

	while (bytes.len) {
		str piece = { bytes.ptr, bytes.len < most ? bytes.len : most };
		int queued = PQputCopyData(pg->connection, piece.ptr, (int)piece.len);

		if (queued < 0)
			return fail(pg, NULL, err, "COPY data");
		if (!send_all(pg, err))
			return false;
		if (queued == 0)
			continue; /* the buffer was full and is flushed now: retry */
		bytes = str_skip(bytes, piece.len);
		/* The server has received the piece. */
		if (!begun)
			failpoint(&failpoint_in_copy);
		begun = true;
	}
	return true;
}

bool postgres_copy(struct postgres *pg, const char *sql, str bytes, struct err *err)
{
	CLEANUP(PQclearp) PGresult *begun = NULL;
	CLEANUP(PQclearp) PGresult *ended = NULL;

	if (!pg->connection || !PQsendQuery(pg->connection, sql))
		return fail(pg, NULL, err, "COPY");
	if (!read_results(pg, "COPY", &begun, err))
		return false;
	if (PQresultStatus(begun) != PGRES_COPY_IN)
		return err_set(err, ERR_INVALID, "not a COPY FROM STDIN: %s", sql);
	if (!copy_data(pg, bytes, err))
		return false;
	if (PQputCopyEnd(pg->connection, NULL) != 1)
		return fail(pg, NULL, err, "COPY end");
	return read_results(pg, "COPY", &ended, err);
}

str postgres_get(const struct postgres_rows *rows, size_t row, size_t column)
{
	if (PQgetisnull(rows->result, (int)row, (int)column))
		return (str){ 0 };
	return (str){ PQgetvalue(rows->result, (int)row, (int)column),
		      (size_t)PQgetlength(rows->result, (int)row, (int)column) };
}

int64_t postgres_get_i64(const struct postgres_rows *rows, size_t row, size_t column)
{
	return postgres_number(postgres_get(rows, row, column));
}

uint64_t postgres_affected(const struct postgres_rows *rows)
{
	uint64_t count = 0;

	return str_to_u64(str_from(PQcmdTuples(rows->result)), &count) ? count : 0;
}
