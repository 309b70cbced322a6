// SPDX-License-Identifier: Apache-2.0
#include "client/postgres_connect.h"

#include "base/clock.h"

#include <libpq-fe.h>
#include <poll.h>

enum { CONNECT_MS = 5000 }; /* for one host */

DEFINE_CLEANUP(PQconninfoOption *, PQconninfoFree)

/* The hosts that are still to be tried: three comma-separated lists. addresses and ports may be
 * shorter than names. */
struct postgres_hosts {
	str names, addresses, ports;
};

bool socket_wait(int fd, short events, const struct cancel *cancel, uint64_t grace_ms,
		 uint64_t deadline_ns, short *ret_ready)
{
	for (;;) {
		/* After the cancellation its descriptor stays readable: do not poll it. */
		bool is_asked = cancel_requested(cancel);
		uint64_t ends_ns = cancel_deadline_ns(cancel, deadline_ns, grace_ms);
		uint64_t now_ns = clock_monotonic_ns();
		struct pollfd fds[] = {
			{ .fd = fd, .events = events },
			{ .fd = cancel && !is_asked ? cancel->fd : -1, .events = POLLIN },
		};

		if (fd < 0 || now_ns >= ends_ns)
			return false;

		uint64_t left_ms = (ends_ns - now_ns) / NS_PER_MS + 1;
		int timeout_ms = left_ms > INT32_MAX ? INT32_MAX : (int)left_ms;

		if (poll(fds, ARRAY_LEN(fds), timeout_ms) > 0 && fds[0].revents) {
			*ret_ready = fds[0].revents;
			return true;
		}
	}
}

static PGconn *begin(const struct postgres_options *options, const struct postgres_hosts *hosts,
		     struct arena *arena)
{
	/* Later values override those of conninfo; NULL values are ignored. */
	const char *const names[] = { "dbname",
				      "fallback_application_name",
				      "tcp_user_timeout",
				      "client_encoding",
				      "options",
				      "host",
				      "hostaddr",
				      "port",
				      NULL };
	const char *const values[] = { options->conninfo,
				       options->application,
				       "30000",
				       "UTF8",
				       options->settings ? options->settings : "",
				       hosts->names.len ? str_z(arena, hosts->names) : NULL,
				       hosts->addresses.len ? str_z(arena, hosts->addresses) : NULL,
				       hosts->ports.len ? str_z(arena, hosts->ports) : NULL,
				       NULL };

	return PQconnectStartParams(names, values, 1);
}

/* PGRES_POLLING_OK, _FAILED, or, after a timeout or cancellation, the state it was waiting in. */
static PostgresPollingStatusType poll_until(PGconn *connection, const struct cancel *cancel,
					    uint64_t deadline_ns)
{
	PostgresPollingStatusType state = PQstatus(connection) == CONNECTION_BAD
						  ? PGRES_POLLING_FAILED
						  : PGRES_POLLING_WRITING;

	while (state == PGRES_POLLING_WRITING || state == PGRES_POLLING_READING) {
		short ready;

		if (!socket_wait(PQsocket(connection),
				 state == PGRES_POLLING_READING ? POLLIN : POLLOUT, cancel,
				 POSTGRES_CANCEL_MS, deadline_ns, &ready))
			break;
		state = PQconnectPoll(connection);
	}
	return state;
}

static str option(const PQconninfoOption *options, const char *name)
{
	for (; options->keyword; options++)
		if (options->val && str_eq(str_from(options->keyword), str_from(name)))
			return str_from(options->val);
	return (str){ 0 };
}

/* Remove the first host. False: it was the only one. */
static bool drop_first(PGconn *connection, struct postgres_hosts *hosts, struct arena *arena)
{
	CLEANUP(PQconninfoFreep) PQconninfoOption *options = PQconninfo(connection);
	str *const lists[] = { &hosts->names, &hosts->addresses, &hosts->ports };
	static const char *const names[] = { "host", "hostaddr", "port" };
	bool more = false;

	for (size_t i = 0; options && i < ARRAY_LEN(lists); i++) {
		str list = option(options, names[i]), rest = list;

		str_cut(&rest, ',');
		*lists[i] = str_copy(arena, rest.len ? rest : list);
		more = more || (i < 2 && rest.len);
	}
	return more;
}

PGconn *postgres_connect(const struct postgres_options *options, struct err *err)
{
	uint64_t wait_ms = options->deadline_ms && options->deadline_ms < CONNECT_MS
				   ? options->deadline_ms
				   : CONNECT_MS;
	AUTO_ARENA arena = { 0 };
	struct postgres_hosts hosts = { 0 };
	bool more = true;

	while (more) {
		PGconn *connection = begin(options, &hosts, &arena);
		PostgresPollingStatusType state = poll_until(
			connection, options->cancel, clock_monotonic_ns() + wait_ms * NS_PER_MS);
		str message = str_from(PQerrorMessage(connection));

		if (state == PGRES_POLLING_OK)
			return connection;
		message = str_trim(str_cut(&message, '\n'));
		if (state == PGRES_POLLING_FAILED)
			err_set(err, ERR_IO, "PostgreSQL: connect: " STR_FMT, STR_ARG(message));
		else if (cancel_requested(options->cancel))
			err_set(err, ERR_CANCELLED, "PostgreSQL: cancelled while connecting");
		else
			err_set(err, ERR_IO,
				"PostgreSQL: connect: %s:%s did not answer within %ju ms",
				PQhost(connection), PQport(connection), (uintmax_t)wait_ms);
		/* _FAILED: libpq has tried all remaining hosts, or one rejected the login. After a
		 * timeout, go on with the hosts after the silent one. */
		more = state != PGRES_POLLING_FAILED && !cancel_requested(options->cancel) &&
		       drop_first(connection, &hosts, &arena);
		PQfinish(connection);
	}
	return NULL;
}
