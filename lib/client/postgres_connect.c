// SPDX-License-Identifier: Apache-2.0
#include "client/postgres_connect.h"

#include "base/clock.h"
#include "base/liveness.h"
#include "client/host_lookup.h"

#include <libpq-fe.h>
#include <netdb.h>
#include <poll.h>
#include <strings.h>

enum { CONNECT_MS = 5000, CONNECT_SECONDS_MAX = 600 }; /* for one host */

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

		int timeout_ms = liveness_wait_ms((ends_ns - now_ns) / NS_PER_MS + 1);

		if (poll(fds, ARRAY_LEN(fds), timeout_ms) > 0 && fds[0].revents) {
			*ret_ready = fds[0].revents;
			return true;
		}
	}
}

/* A value; a NULL ptr: not set. */
static str option(const PQconninfoOption *options, const char *name)
{
	for (; options && options->keyword; options++)
		if (options->val && str_eq(str_from(options->keyword), str_from(name)))
			return str_from(options->val);
	return (str){ 0 };
}

/*
 * Parse what the connection string itself sets. A text that is neither a URI nor keyword=value is
 * the name of a database for libpq; it sets nothing, and *ret_own is NULL. The message has no part
 * of the string, because it may contain a password.
 */
static bool parse(const char *conninfo, PQconninfoOption **ret_own, struct err *err)
{
	str encoding;

	*ret_own = PQconninfoParse(conninfo, NULL);
	if (!*ret_own && strpbrk(conninfo, "=:/@"))
		return err_set(
			err, ERR_INVALID,
			"PostgreSQL: the connection string is malformed: it is "
			"keyword=value ..., or postgresql://USER:PASSWORD@HOST:PORT/DATABASE "
			"with special characters percent-encoded");
	encoding = option(*ret_own, "client_encoding");
	return !encoding.len || strcasecmp(encoding.ptr, "UTF8") == 0 ||
	       strcasecmp(encoding.ptr, "UTF-8") == 0 ||
	       err_set(err, ERR_INVALID,
		       "PostgreSQL: client_encoding of the connection string must be UTF8");
}

/* Our settings, then those of the user, which win: the last value of a setting counts. */
static const char *settings_of(const struct postgres_options *options, const PQconninfoOption *own,
			       struct arena *arena)
{
	CLEANUP(PQconninfoFreep) PQconninfoOption *defaults = PQconndefaults(); /* PGOPTIONS */
	str theirs = option(own, "options");

	if (!theirs.ptr)
		theirs = option(defaults, "options");
	return str_z(arena, str_trim(str_format(arena, "%s " STR_FMT,
						options->settings ? options->settings : "",
						STR_ARG(theirs))));
}

/* connect_timeout of the user, in seconds, replaces CONNECT_MS. */
static uint64_t connect_ms(const struct postgres_options *options, const PQconninfoOption *own)
{
	uint64_t wait_ms = CONNECT_MS, seconds;

	if (str_to_u64(option(own, "connect_timeout"), &seconds) && seconds)
		wait_ms = 1000 * (seconds < CONNECT_SECONDS_MAX ? seconds : CONNECT_SECONDS_MAX);
	return options->deadline_ms && options->deadline_ms < wait_ms ? options->deadline_ms
								      : wait_ms;
}

/*
 * libpq resolves a name with getaddrinfo(), which may block for minutes. So the name of the next
 * host is looked up here first, within the time of one host; libpq's own look-up is quick then,
 * because the name server responds. False: the name was not resolved in time. A name that does not
 * exist is left to libpq, which tries the next host.
 */
static bool name_resolves(const PQconninfoOption *own, const struct postgres_hosts *hosts,
			  uint64_t deadline_ns, struct err *err)
{
	CLEANUP(PQconninfoFreep) PQconninfoOption *defaults = PQconndefaults(); /* PGHOST */
	AUTO_ARENA arena = { 0 };
	str names = hosts->names.len ? hosts->names : option(own, "host");
	str rest = names.len ? names : option(defaults, "host"), name = str_cut(&rest, ',');
	struct addrinfo *found = NULL;

	if (hosts->addresses.len || option(own, "hostaddr").len || !name.len ||
	    name.ptr[0] == '/' || name.ptr[0] == '@') /* sockets */
		return true;
	if (host_lookup(str_z(&arena, name), 0, deadline_ns, &found, err))
		freeaddrinfo(found);
	else if (err->code != ERR_IO)
		return err_set(err, ERR_IO, "PostgreSQL: connect: " STR_FMT " was not resolved",
			       STR_ARG(name));
	return true;
}

static PGconn *begin(const struct postgres_options *options, const PQconninfoOption *own,
		     const struct postgres_hosts *hosts, struct arena *arena)
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
				       option(own, "tcp_user_timeout").ptr ? NULL : "30000",
				       "UTF8",
				       settings_of(options, own, arena),
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
	CLEANUP(PQconninfoFreep) PQconninfoOption *own = NULL;
	AUTO_ARENA arena = { 0 };
	struct postgres_hosts hosts = { 0 };
	bool more = parse(options->conninfo, &own, err);
	uint64_t wait_ms = connect_ms(options, own);

	while (more) {
		if (!name_resolves(own, &hosts, clock_monotonic_ns() + wait_ms * NS_PER_MS, err))
			return NULL;

		PGconn *connection = begin(options, own, &hosts, &arena);
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
