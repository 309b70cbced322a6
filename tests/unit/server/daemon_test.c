// SPDX-License-Identifier: Apache-2.0
#include "base/buf.h"
#include "base/liveness.h"
#include "server/daemon.h"
#include "server/http/socket.h"
#include "support/test.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct settings {
	struct daemon_settings daemon;
};

static const struct conf_key keys[] = { DAEMON_KEYS(struct settings, daemon, "127.0.0.1:0") };

static bool is_ready;
static _Atomic int ahead_seconds; /* of the clock of this process */

static bool ready(void *self, struct err *why)
{
	(void)self;
	return is_ready || err_set(why, ERR_IO, "still warming up");
}

/* Replaces that of libc. */
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): those of libc are reserved
 */
int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
	int result = (int)syscall(SYS_clock_gettime, clock, ret_time);

	if (clock == CLOCK_MONOTONIC)
		ret_time->tv_sec += ahead_seconds;
	return result;
}

static void hello(void *self, const struct http_request *req, struct http_response *res)
{
	(void)req;
	res->body = str_from(self);
}

static int run_bounded(bool (*run)(void *settings, struct err *err), char *flag, uint64_t stop_ms)
{
	static struct settings settings;
	struct daemon_program program = {
		.conf = { .name = "decima-test",
			  .summary = "A test.",
			  .keys = keys,
			  .key_count = ARRAY_LEN(keys) },
		.settings = &settings,
		.daemon = &settings.daemon,
		.run = run,
		.stop_ms = stop_ms,
	};
	char name[] = "decima-test";
	char level[] = "--log-level=error";
	char *argv[] = { name, level, flag, NULL };

	return daemon_main(&program, flag ? 3 : 2, argv);
}

static int run_main(bool (*run)(void *settings, struct err *err), char *flag)
{
	return run_bounded(run, flag, 0);
}

static str get(struct arena *arena, const struct daemon_server *server, const char *path)
{
	struct buf received = { .arena = arena };
	char address[32];
	AUTO_FD fd = -1;
	struct err err;
	ssize_t n;

	snprintf(address, sizeof(address), "127.0.0.1:%u", (unsigned int)server->http.port);
	assert_true(socket_connect(address, 2000, &fd, &err));

	str request =
		str_format(arena, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path);

	assert_int_equal(send(fd, request.ptr, request.len, MSG_NOSIGNAL), request.len);
	while ((n = recv(fd, buf_reserve(&received, 4096), 4096, 0)) > 0)
		received.len += (size_t)n;
	return buf_bytes(&received);
}

static bool answers(const struct daemon_server *server, const char *path, const char *status,
		    const char *end)
{
	AUTO_ARENA arena = { 0 };
	str answer = get(&arena, server, path);

	return str_find(answer, str_from(status)) == strlen("HTTP/1.1 ") &&
	       str_ends_with(answer, str_from(end));
}

/* --healthcheck against the server, as another process would run it. */
static int healthcheck(const struct daemon_server *server)
{
	static struct settings other;
	struct daemon_program program = {
		.conf = { .name = "decima-test", .keys = keys, .key_count = ARRAY_LEN(keys) },
		.settings = &other,
		.daemon = &other.daemon,
	};
	char name[] = "decima-test", check[] = "--healthcheck", address[64];
	char *argv[] = { name, check, address, NULL };

	snprintf(address, sizeof(address), "--http-address=:%u", (unsigned int)server->http.port);
	return daemon_main(&program, 3, argv);
}

static bool live(void *self, struct err *err)
{
	const struct settings *settings = self;
	static const struct http_route routes[] = {
		{ .method = "GET", .path = "/hello", .handle = hello }
	};
	char greeting[] = "hello";
	struct daemon_service service = {
		.routes = routes, .route_count = 1, .self = greeting, .ready = ready
	};
	struct daemon_server server = { 0 };

	assert_true(daemon_serve(&server, &settings->daemon, &service, err));
	assert_true(answers(&server, "/healthy", "200", "ok\n"));
	assert_true(answers(&server, "/hello", "200", "hello"));
	assert_true(answers(&server, "/metrics", "200", "\n"));

	liveness_begin("test");
	liveness_step("waiting for nothing");
	ahead_seconds = 28;
	/* The threads of the server advance when they wake up. */
	while (!answers(&server, "/healthy", "503", " s: waiting for nothing\n"))
		sched_yield(); /* clock_sleep_ms() would let this thread advance */
	assert_true(answers(&server, "/ready", "503", " s: waiting for nothing\n"));
	liveness_end();
	assert_true(answers(&server, "/healthy", "200", "ok\n"));
	is_ready = false;
	assert_true(answers(&server, "/ready", "503", "still warming up\n"));
	assert_int_equal(healthcheck(&server), 1);
	is_ready = true;
	assert_true(answers(&server, "/ready", "200", "ready\n"));
	assert_int_equal(healthcheck(&server), 0);

	assert_false(daemon_stopping());
	assert_true(daemon_wait(1));
	kill(getpid(), SIGTERM);
	assert_false(daemon_wait(10000));
	assert_true(daemon_stopping());
	assert_true(answers(&server, "/ready", "503", "stopping\n"));
	assert_true(answers(&server, "/healthy", "200", "ok\n"));
	daemon_unserve(&server);
	daemon_unserve(&server); /* a second call has no effect */
	assert_int_equal(healthcheck(&server), 1);
	return true;
}

static void runs_from_ready_to_an_orderly_shutdown(void **state)
{
	(void)state;
	assert_int_equal(run_main(live, NULL), 0);
}

static bool fail_to_run(void *self, struct err *err)
{
	(void)self;
	return err_set(err, ERR_IO, "nothing works");
}

static void work(void *self)
{
	int *times = self;

	if (++*times == 3)
		daemon_stop();
}

static bool serve_and_work(void *self, struct err *err)
{
	const struct settings *settings = self;
	int times = 0;
	const struct daemon_service service = { .self = &times, .periodic = work, .period_ms = 1 };
	bool served = daemon_serve_until_stop(&settings->daemon, &service, err);

	assert_int_equal(times, 3);
	return served;
}

static void serves_and_works_until_shutdown(void **state)
{
	(void)state;
	assert_int_equal(run_main(serve_and_work, NULL), 0);
}

static bool hang(void *self, struct err *err)
{
	(void)self;
	(void)err;
	daemon_stop();
	while (daemon_stopping())
		pause();
	return false;
}

static bool end_at_once(void *self, struct err *err)
{
	(void)self;
	(void)err;
	daemon_stop();
	return true;
}

/* The status of a process whose run() does not end, or ends. */
static int status_of(bool (*run)(void *settings, struct err *err), uint64_t stop_ms)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(run_bounded(run, NULL, stop_ms));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void a_process_that_does_not_end_is_ended(void **state)
{
	(void)state;
	assert_int_equal(status_of(hang, 100), DAEMON_STATUS_STUCK);
	assert_int_equal(status_of(end_at_once, 600 * 1000), 0);
}

static void a_run_that_fails_is_exit_status_1(void **state)
{
	(void)state;
	assert_int_equal(run_main(fail_to_run, NULL), 1);
}

static void a_bad_flag_is_exit_status_1(void **state)
{
	char flag[] = "--nope";

	(void)state;
	assert_int_equal(run_main(live, flag), 1);
}

static void an_address_in_use_is_an_error(void **state)
{
	struct daemon_server first = { 0 }, second = { 0 };
	struct daemon_service service = { 0 };
	struct daemon_settings settings = { .http_address = "127.0.0.1:0" };
	char taken[32];
	struct err err;

	(void)state;
	assert_true(daemon_serve(&first, &settings, &service, &err));
	snprintf(taken, sizeof(taken), "127.0.0.1:%u", (unsigned int)first.http.port);
	settings.http_address = taken;
	assert_false(daemon_serve(&second, &settings, &service, &err));
	assert_true(str_ends_with(str_from(err.msg), STR(": Address already in use")));
	daemon_unserve(&second);
	daemon_unserve(&first);
}

RUN_TESTS(TEST(a_process_that_does_not_end_is_ended), /* first: it forks */
	  TEST(runs_from_ready_to_an_orderly_shutdown), TEST(serves_and_works_until_shutdown),
	  TEST(a_run_that_fails_is_exit_status_1), TEST(a_bad_flag_is_exit_status_1),
	  TEST(an_address_in_use_is_an_error))
