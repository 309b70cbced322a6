// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "client/postgres.h"
#include "support/test.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

/*
 * A fake server that implements the part of PostgreSQL's protocol that a test needs, and then
 * neither sends nor reads, like a stopped process.
 */
struct server {
	int listener, done;
	uint16_t port;
	bool greets, begins_copy;
	str reply; /* to the first statement */
	pthread_t thread;
};

enum { DEADLINE_MS = 1000, LATE_MS = 20000, LARGE = 64 << 20 };

static void read_bytes(int fd, size_t len)
{
	char bytes[1024];

	while (len) {
		ssize_t n = read(fd, bytes, len < sizeof(bytes) ? len : sizeof(bytes));

		if (n <= 0)
			return;
		len -= (size_t)n;
	}
}

/* One message; the first one has no type. */
static void read_message(int fd, bool has_type)
{
	char type;
	uint32_t len = 0;

	if (has_type && read(fd, &type, 1) != 1)
		return;
	if (read(fd, &len, sizeof(len)) == sizeof(len))
		read_bytes(fd, ntohl(len) - sizeof(len));
}

static void say(int fd, const char *bytes, size_t len)
{
	assert_int_equal(write(fd, bytes, len), len);
}

static void *serve(void *self)
{
	static const char greeting[] = "R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";
	static const char copy_in[] = "G\0\0\0\x09\x01\0\x01\0\x01";
	struct server *server = self;
	AUTO_FD fd = accept(server->listener, NULL, NULL);
	struct pollfd done = { .fd = server->done, .events = POLLIN };

	if (fd < 0)
		return NULL; /* no client connected */
	read_message(fd, false);
	if (server->greets)
		say(fd, greeting, sizeof(greeting) - 1);
	if (server->begins_copy) {
		read_message(fd, true);
		say(fd, copy_in, sizeof(copy_in) - 1);
	}
	if (server->reply.len) {
		read_message(fd, true);
		say(fd, server->reply.ptr, server->reply.len);
	}
	poll(&done, 1, -1);
	return NULL;
}

static void server_start(struct server *server)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);

	server->done = eventfd(0, EFD_CLOEXEC);
	server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server->listener, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(server->listener, 4), 0);
	assert_int_equal(getsockname(server->listener, (struct sockaddr *)&address, &len), 0);
	server->port = ntohs(address.sin_port);
	assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void server_stop(struct server *server)
{
	uint64_t one = 1;

	assert_int_equal(write(server->done, &one, sizeof(one)), sizeof(one));
	shutdown(server->listener, SHUT_RDWR);
	pthread_join(server->thread, NULL);
	close(server->listener);
	close(server->done);
}

static bool open_to(struct postgres *pg, const char *hosts, const char *ports,
		    const struct cancel *cancel, struct err *err)
{
	char conninfo[256];

	snprintf(conninfo, sizeof(conninfo),
		 "host=%s port=%s user=u dbname=d sslmode=disable gssencmode=disable", hosts,
		 ports);
	return postgres_open(pg,
			     &(struct postgres_options){ .conninfo = conninfo,
							 .application = "test",
							 .deadline_ms = cancel ? 0 : DEADLINE_MS,
							 .cancel = cancel },
			     err);
}

static bool open_server(struct postgres *pg, const struct server *server,
			const struct cancel *cancel, struct err *err)
{
	char port[8];

	snprintf(port, sizeof(port), "%u", server->port);
	return open_to(pg, "127.0.0.1", port, cancel, err);
}

/* Cancelled so long ago that no grace period is left. */
static const struct cancel asked = { .fd = -1, .requested_ns = 1 };

static void assert_soon(uint64_t start_ns)
{
	assert_true(clock_monotonic_ns() - start_ns < LATE_MS * NS_PER_MS);
}

static void connecting_to_a_silent_server_ends_at_the_deadline(void **state)
{
	struct server server = { 0 };
	struct postgres pg = { 0 };
	struct err err;
	uint64_t start_ns = clock_monotonic_ns();

	(void)state;
	server_start(&server);

	assert_false(open_server(&pg, &server, NULL, &err));

	assert_soon(start_ns);
	assert_non_null(strstr(err.msg, "did not answer within 1000 ms"));
	assert_false(postgres_is_open(&pg));
	server_stop(&server);
}

static void a_silent_host_is_skipped(void **state)
{
	struct server silent = { 0 }, good = { .greets = true };
	struct postgres pg = { 0 };
	struct err err;
	char ports[32];

	(void)state;
	server_start(&silent);
	server_start(&good);
	snprintf(ports, sizeof(ports), "%u,%u", silent.port, good.port);

	assert_true(open_to(&pg, "127.0.0.1,127.0.0.1", ports, NULL, &err));

	assert_true(postgres_is_open(&pg));
	postgres_close(&pg);
	server_stop(&silent);
	server_stop(&good);
}

static void hosts_that_are_all_silent_are_an_error(void **state)
{
	struct server one = { 0 }, other = { 0 };
	struct postgres pg = { 0 };
	struct err err;
	char ports[32];

	(void)state;
	server_start(&one);
	server_start(&other);
	snprintf(ports, sizeof(ports), "%u,%u", one.port, other.port);

	assert_false(open_to(&pg, "127.0.0.1,127.0.0.1", ports, NULL, &err));

	assert_non_null(strstr(err.msg, "did not answer"));
	server_stop(&one);
	server_stop(&other);
}

static void connecting_is_cancellable(void **state)
{
	struct server server = { 0 };
	struct postgres pg = { 0 };
	struct err err;

	(void)state;
	server_start(&server);

	uint64_t start_ns = clock_monotonic_ns();

	assert_false(open_server(&pg, &server, &asked, &err));

	assert_int_equal(err.code, ERR_CANCELLED);
	assert_true(clock_monotonic_ns() - start_ns < 4 * NS_PER_SECOND); /* of 5 otherwise */
	server_stop(&server);
}

static void a_server_that_does_not_respond_loses_the_connection(void **state)
{
	struct server server = { .greets = true };
	struct postgres pg = { 0 };
	struct err err;

	(void)state;
	server_start(&server);
	assert_true(open_server(&pg, &server, NULL, &err));

	uint64_t start_ns = clock_monotonic_ns();

	assert_false(postgres_exec(&pg, "SELECT 1", &err));

	assert_soon(start_ns);
	assert_int_equal(err.code, ERR_IO);
	assert_string_equal(err.msg, "PostgreSQL did not answer within 1000 ms");
	assert_false(postgres_is_open(&pg));
	postgres_close(&pg);
	server_stop(&server);
}

static void copying_to_a_server_that_does_not_read_ends_at_the_deadline(void **state)
{
	struct server server = { .greets = true, .begins_copy = true };
	struct postgres pg = { 0 };
	char *data = calloc(1, LARGE);
	struct err err;

	(void)state;
	assert_non_null(data);
	server_start(&server);
	assert_true(open_server(&pg, &server, NULL, &err));

	uint64_t start_ns = clock_monotonic_ns();

	assert_false(postgres_copy(&pg, "COPY t FROM STDIN", (str){ data, LARGE }, &err));

	assert_soon(start_ns);
	assert_int_equal(err.code, ERR_IO);
	assert_string_equal(err.msg, "PostgreSQL did not answer within 1000 ms");
	assert_false(postgres_is_open(&pg));
	postgres_close(&pg);
	server_stop(&server);
	free(data);
}

static void a_statement_that_is_not_read_ends_at_the_deadline(void **state)
{
	struct server server = { .greets = true };
	struct postgres pg = { 0 };
	char *text = malloc(LARGE + 1);
	struct postgres_rows rows;
	struct err err;

	(void)state;
	assert_non_null(text);
	memset(text, ' ', LARGE);
	text[LARGE] = '\0';
	server_start(&server);
	assert_true(open_server(&pg, &server, NULL, &err));

	uint64_t start_ns = clock_monotonic_ns();
	const struct postgres_param param = postgres_text((str){ text, LARGE });

	assert_false(postgres_query(&pg, "SELECT $1", &param, 1, &rows, &err));

	assert_soon(start_ns);
	assert_false(postgres_is_open(&pg));
	postgres_close(&pg);
	server_stop(&server);
	free(text);
}

/* Another thread requests the cancellation during the wait. */
static void *ask(void *self)
{
	clock_sleep_ms(50);
	cancel_request(self);
	return NULL;
}

static void a_wait_for_a_response_is_cancellable(void **state)
{
	struct server server = { .greets = true };
	struct cancel cancel = { .fd = -1 };
	struct postgres pg = { 0 };
	pthread_t asker;
	struct err err;

	(void)state;
	assert_true(cancel_open(&cancel, &err));
	server_start(&server);
	assert_true(open_server(&pg, &server, &cancel, &err));
	assert_int_equal(pthread_create(&asker, NULL, ask, &cancel), 0);

	uint64_t start_ns = clock_monotonic_ns();

	assert_false(postgres_exec(&pg, "SELECT 1", &err));

	assert_soon(start_ns); /* of 60 s otherwise */
	assert_int_equal(err.code, ERR_CANCELLED);
	assert_string_equal(err.msg, "PostgreSQL: cancelled while waiting for the server");
	assert_false(postgres_is_open(&pg));
	assert_false(postgres_sleep(&pg, 60000));
	pthread_join(asker, NULL);
	postgres_close(&pg);
	cancel_close(&cancel);
	server_stop(&server);
}

static void the_bound_of_a_request_is_a_timeout(void **state)
{
	struct server server = { .greets = true };
	struct postgres pg = { 0 };
	struct err err;

	(void)state;
	server_start(&server);
	assert_true(open_server(&pg, &server, NULL, &err));
	postgres_set_bounds(&pg, clock_monotonic_ns(), NULL);

	assert_false(postgres_exec(&pg, "SELECT 1", &err));

	assert_int_equal(err.code, ERR_TIMEOUT);
	postgres_close(&pg);
	server_stop(&server);
}

static void a_lock_that_is_not_available_is_busy(void **state)
{
	static const char refusal[] = "E\0\0\0\x1f"
				      "SERROR\0"
				      "C55P03\0"
				      "Mlocked now\0\0"
				      "Z\0\0\0\x05I";
	struct server server = { .greets = true, .reply = { refusal, sizeof(refusal) - 1 } };
	struct postgres pg = { 0 };
	struct err err;

	(void)state;
	server_start(&server);
	assert_true(open_server(&pg, &server, NULL, &err));

	assert_false(postgres_exec(&pg, "LOCK TABLE t", &err));

	assert_int_equal(err.code, ERR_BUSY);
	assert_true(postgres_is_open(&pg));
	postgres_close(&pg);
	server_stop(&server);
}

RUN_TESTS(TEST(connecting_to_a_silent_server_ends_at_the_deadline), TEST(a_silent_host_is_skipped),
	  TEST(hosts_that_are_all_silent_are_an_error), TEST(connecting_is_cancellable),
	  TEST(a_server_that_does_not_respond_loses_the_connection),
	  TEST(copying_to_a_server_that_does_not_read_ends_at_the_deadline),
	  TEST(a_statement_that_is_not_read_ends_at_the_deadline),
	  TEST(a_wait_for_a_response_is_cancellable), TEST(the_bound_of_a_request_is_a_timeout),
	  TEST(a_lock_that_is_not_available_is_busy))
