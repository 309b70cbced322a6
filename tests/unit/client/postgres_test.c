// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "client/postgres.h"
#include "support/test.h"

#include <arpa/inet.h>
#include <libpq-fe.h>
#include <netinet/tcp.h>
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
	str reply;          /* to the first statement */
	char startup[1024]; /* the first message: names and values, each with a NUL */
	size_t startup_len;
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

/* A message of the client; the first one has no type and is kept. */
static void read_message(struct server *server, int fd, bool is_first)
{
	char type;
	uint32_t len = 0;

	if (!is_first && read(fd, &type, 1) != 1)
		return;
	if (read(fd, &len, sizeof(len)) != sizeof(len))
		return;
	len = ntohl(len) - (uint32_t)sizeof(len);
	if (!is_first) {
		read_bytes(fd, len);
		return;
	}
	assert_true(len <= sizeof(server->startup));
	while (server->startup_len < len) {
		ssize_t n =
			read(fd, server->startup + server->startup_len, len - server->startup_len);

		if (n <= 0)
			return;
		server->startup_len += (size_t)n;
	}
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
	read_message(server, fd, true);
	if (server->greets)
		say(fd, greeting, sizeof(greeting) - 1);
	if (server->begins_copy) {
		read_message(server, fd, false);
		say(fd, copy_in, sizeof(copy_in) - 1);
	}
	if (server->reply.len) {
		read_message(server, fd, false);
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

/* Connects with what the string sets itself, and with these settings of ours. */
static bool open_with(struct postgres *pg, const struct server *server, const char *more,
		      const char *settings, struct err *err)
{
	char conninfo[256];

	snprintf(conninfo, sizeof(conninfo),
		 "postgresql://u@127.0.0.1:%u/d?sslmode=disable&gssencmode=disable%s", server->port,
		 more);
	return postgres_open(pg,
			     &(struct postgres_options){ .conninfo = conninfo,
							 .application = "test",
							 .settings = settings },
			     err);
}

/* The value of a startup parameter, after the version's 4 bytes. */
static const char *startup(const struct server *server, const char *name)
{
	for (size_t i = 4; i < server->startup_len && server->startup[i];) {
		const char *value = server->startup + i + strlen(server->startup + i) + 1;

		if (strcmp(server->startup + i, name) == 0)
			return value;
		i = (size_t)(value - server->startup) + strlen(value) + 1;
	}
	return "";
}

static void what_the_connection_string_sets_wins(void **state)
{
	struct server server = { .greets = true };
	struct postgres pg = { 0 };
	struct err err;

	(void)state;
	server_start(&server);

	assert_true(open_with(&pg, &server,
			      "&options=-c%20work_mem%3D64MB%20-c%20jit%3Don&tcp_user_timeout=7000"
			      "&client_encoding=utf8&application_name=mine",
			      "-c jit=off -c lock_timeout=1s", &err));

	/* The last value of a setting counts. */
	assert_string_equal(startup(&server, "options"),
			    "-c jit=off -c lock_timeout=1s -c work_mem=64MB -c jit=on");
	assert_string_equal(startup(&server, "client_encoding"), "UTF8");
	assert_string_equal(startup(&server, "application_name"), "mine");

	int timeout_ms = 0;
	socklen_t len = sizeof(timeout_ms);

	assert_int_equal(getsockopt(PQsocket(pg.connection), IPPROTO_TCP, TCP_USER_TIMEOUT,
				    &timeout_ms, &len),
			 0);
	assert_int_equal(timeout_ms, 7000);
	postgres_close(&pg);
	server_stop(&server);
}

static void without_settings_of_the_user_ours_apply(void **state)
{
	struct server server = { .greets = true };
	struct postgres pg = { 0 };
	struct err err;

	(void)state;
	unsetenv("PGOPTIONS");
	server_start(&server);

	assert_true(open_with(&pg, &server, "", "-c jit=off", &err));

	assert_string_equal(startup(&server, "options"), "-c jit=off");
	assert_string_equal(startup(&server, "application_name"), "test");
	postgres_close(&pg);
	server_stop(&server);
}

static void the_environment_sets_options_as_for_psql(void **state)
{
	struct server server = { .greets = true };
	struct postgres pg = { 0 };
	struct err err;

	(void)state;
	setenv("PGOPTIONS", "-c jit=on", 1);
	server_start(&server);

	assert_true(open_with(&pg, &server, "", "-c jit=off", &err));

	unsetenv("PGOPTIONS");
	assert_string_equal(startup(&server, "options"), "-c jit=off -c jit=on");
	postgres_close(&pg);
	server_stop(&server);
}

static void a_connection_string_that_cannot_be_used_is_invalid(void **state)
{
	static const char *const wrong[] = {
		"postgresql://u:topsecret@[::1/d",
		"postgres//u:topsecret@h/d",
		"postgresql://u:topsecret@h/d?nonsense=1",
		"password=topsecret host='h",
		"postgresql://u:topsecret@127.0.0.1:1/d?client_encoding=LATIN1",
		"postgresql://u:topsecret@127.0.0.1:1/d?client_encoding=auto",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct postgres pg = { 0 };
		struct err err = { 0 };

		assert_false(postgres_open(&pg, &(struct postgres_options){ .conninfo = wrong[i] },
					   &err));
		assert_int_equal(err.code, ERR_INVALID);
		assert_null(strstr(err.msg, "topsecret"));
	}
}

static void a_silent_host_is_left_after_connect_timeout(void **state)
{
	struct server server = { 0 };
	struct postgres pg = { 0 };
	struct err err;

	(void)state;
	server_start(&server);

	assert_false(open_with(&pg, &server, "&connect_timeout=1", NULL, &err));

	assert_non_null(strstr(err.msg, "did not answer within 1000 ms"));
	server_stop(&server);
}

RUN_TESTS(TEST(connecting_to_a_silent_server_ends_at_the_deadline), TEST(a_silent_host_is_skipped),
	  TEST(hosts_that_are_all_silent_are_an_error), TEST(connecting_is_cancellable),
	  TEST(a_server_that_does_not_respond_loses_the_connection),
	  TEST(copying_to_a_server_that_does_not_read_ends_at_the_deadline),
	  TEST(a_statement_that_is_not_read_ends_at_the_deadline),
	  TEST(a_wait_for_a_response_is_cancellable), TEST(the_bound_of_a_request_is_a_timeout),
	  TEST(a_lock_that_is_not_available_is_busy), TEST(what_the_connection_string_sets_wins),
	  TEST(without_settings_of_the_user_ours_apply),
	  TEST(the_environment_sets_options_as_for_psql),
	  TEST(a_connection_string_that_cannot_be_used_is_invalid),
	  TEST(a_silent_host_is_left_after_connect_timeout))
