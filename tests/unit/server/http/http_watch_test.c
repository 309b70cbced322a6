// SPDX-License-Identifier: Apache-2.0
/*
 * Clients that are slow, disconnect, or are too many.
 */
#include "server/http/http_metrics_internal.h"
#include "support/http_stand.h"

#include <netinet/in.h>
#include <pthread.h>

/* More than the socket buffers hold, so that sending waits for the client. */
enum { LARGE = 4 << 20 };

static void large(void *service, const struct http_request *req, struct http_response *res)
{
	(void)service;
	res->body = (str){ arena_array(req->arena, char, LARGE), LARGE };
}

/* More than its client reads, with a deadline of its own: the server's is a minute later. */
static void hurried(void *service, const struct http_request *req, struct http_response *res)
{
	enum { BYTES = 64 << 20 };

	(void)service;
	res->body = (str){ arena_array(req->arena, char, BYTES), BYTES };
	res->deadline_ns = clock_monotonic_ns();
}

static void slow(void *service, const struct http_request *req, struct http_response *res)
{
	(void)service;
	(void)req;
	clock_sleep_ms(600);
	res->body = STR("slept");
}

/* How often this handler began, and how often it was cancelled within 20 s. */
static _Atomic int awaited, abandoned;

static void patient(void *service, const struct http_request *req, struct http_response *res)
{
	(void)service;
	(void)res;
	awaited++;
	abandoned += !cancel_wait(req->gone, 20000);
}

static const struct http_route routes[] = {
	{ .method = "GET", .path = "/greet", .handle = greet },
	{ .method = "GET", .path = "/healthy", .handle = greet, .is_health = true },
	{ .method = "POST", .path = "/echo", .handle = echo, .body_max = 1000 },
	{ .method = "GET", .path = "/slow", .handle = slow },
	{ .method = "GET", .path = "/large", .handle = large },
	{ .method = "GET", .path = "/hurried", .handle = hurried },
	{ .method = "GET", .path = "/patient", .handle = patient },
};

/* One address may have six of the eight connections. */
static const struct http_options options = { OWN_ROUTES(routes), .error_body = refuse,
					     .connections = 8,   .share_percent = 75,
					     .receive_ms = 400,  .send_ms = 500 };

static void a_slow_client_is_disconnected(void **state)
{
	AUTO_FD fd = connect_to_server();
	uint64_t began = clock_monotonic_ns();
	int64_t cut = metric_get(&http_timeouts_total);
	ssize_t sent = 1;

	(void)state;
	/* A byte every 50 ms, for longer than the timeout of a request. */
	while (sent > 0 && metric_get(&http_timeouts_total) == cut &&
	       clock_monotonic_ns() - began < 5 * NS_PER_SECOND) {
		sent = send(fd, "G", 1, MSG_NOSIGNAL);
		clock_sleep_ms(50);
	}
	assert_true(metric_get(&http_timeouts_total) == cut + 1);
	assert_true(clock_monotonic_ns() - began < 2 * NS_PER_SECOND);
}

/* The deadline of a response is later by a second for each HTTP_SLOWEST_BYTES. */
static void a_client_that_does_not_read_its_response_is_disconnected(void **state)
{
	AUTO_FD fd = connect_to_server();
	uint64_t began = clock_monotonic_ns();
	int64_t cut = metric_get(&http_timeouts_total);
	char room[65536];
	ssize_t got, taken = 0;

	(void)state;
	send_text(fd, STR("GET /large HTTP/1.1\r\nHost: x\r\n\r\n"));
	while (metric_get(&http_timeouts_total) == cut &&
	       clock_monotonic_ns() - began < 60 * NS_PER_SECOND)
		clock_sleep_ms(20);
	assert_true(metric_get(&http_timeouts_total) == cut + 1);
	assert_true(clock_monotonic_ns() - began >= LARGE / HTTP_SLOWEST_BYTES * NS_PER_SECOND);
	while ((got = recv(fd, room, sizeof(room), 0)) > 0)
		taken += got;
	assert_true(taken < LARGE);
}

static void a_response_has_the_deadline_of_its_request(void **state)
{
	AUTO_FD fd = connect_to_server();
	uint64_t began = clock_monotonic_ns();
	int64_t cut = metric_get(&http_timeouts_total);

	(void)state;
	send_text(fd, STR("GET /hurried HTTP/1.1\r\nHost: x\r\n\r\n"));
	while (metric_get(&http_timeouts_total) == cut &&
	       clock_monotonic_ns() - began < 40 * NS_PER_SECOND)
		clock_sleep_ms(20);
	assert_int_equal(metric_get(&http_timeouts_total), cut + 1);
	assert_true(clock_monotonic_ns() - began >= NS_PER_SECOND); /* whatever the deadline is */
}

/* For the sanitizer: the memory of a request is freed however it ends. */
static void aborted_requests_leak_no_memory(void **state)
{
	static const char *const rows[] = {
		"GET /greet HTTP/1.1\r\nHost:",
		"GET /greet HTTP/1.1\r\nno colon here\r\n\r\n",
		"GET /greet HTTP/9.9\r\n\r\n",
		"GET /greet\r\n\r\n",
		"\r\n\r\n\r\n",
		"GET /greet HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
		"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf",
		"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
	};
	AUTO_ARENA arena = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_FD fd = connect_to_server();

		send_text(fd, str_from(rows[i]));
		shutdown(fd, SHUT_WR);
		receive_all(&arena, fd);
	}
	assert_status(request(&arena, "GET /greet", "", (str){ 0 }), "200");
}

static void a_handler_may_take_longer_than_a_request(void **state)
{
	AUTO_ARENA arena = { 0 };

	(void)state;
	assert_true(str_ends_with(request(&arena, "GET /slow", "", (str){ 0 }), STR("slept")));
}

static void wait_for(_Atomic int *count, int expected)
{
	for (int tries = 0; *count != expected && tries < 1000; tries++)
		clock_sleep_ms(20);
	assert_int_equal(*count, expected);
}

static void a_handler_is_cancelled_when_its_client_disconnects(void **state)
{
	(void)state;
	awaited = abandoned = 0;
	for (int i = 0; i < 3; i++) {
		AUTO_FD fd = connect_to_server();

		send_text(fd, STR("GET /patient HTTP/1.1\r\nHost: x\r\n\r\n"));
		wait_for(&awaited, i + 1);
	}
	wait_for(&abandoned, 3);
}

static void close_all(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
	for (int tries = 0; metric_get(&http_connections) > 0 && tries < 1000; tries++)
		clock_sleep_ms(20);
}

/* Connections are free again when the threads of those that were closed have ended. */
static str request_until_answered(struct arena *arena, const char *line)
{
	str response = { 0 };

	for (int tries = 0; tries < 200; tries++) {
		response = request(arena, line, "", (str){ 0 });
		if (response.len && str_find(response, STR("HTTP/1.1 503")) != 0)
			break;
		clock_sleep_ms(5);
	}
	return response;
}

/* From 127.0.0.`last`: all these addresses are this host. */
static int connect_from(unsigned int last)
{
	struct sockaddr_in from = { .sin_family = AF_INET,
				    .sin_addr = { htonl(0x7f000000 + last) } };
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(server.port),
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

/* Occupy all eight connections, of two addresses, with handlers that run. */
static void occupy(int *fds)
{
	awaited = abandoned = 0;
	for (int i = 0; i < 8; i++) {
		fds[i] = connect_from(2 + (unsigned int)i % 2);
		send_text(fds[i], STR("GET /patient HTTP/1.1\r\nHost: x\r\n\r\n"));
		wait_for(&awaited, i + 1);
	}
}

static void requests_beyond_the_limit_are_rejected_but_not_those_for_health(void **state)
{
	AUTO_ARENA arena = { 0 };
	int64_t before = metric_get(&http_refused_total);
	int fds[8];

	(void)state;
	occupy(fds);
	assert_status(request(&arena, "GET /greet", "", (str){ 0 }), "503");
	assert_int_equal(metric_get(&http_refused_total), before + 1);
	assert_status(request(&arena, "GET /healthy", "", (str){ 0 }), "200");
	close_all(fds, ARRAY_LEN(fds));
	wait_for(&abandoned, 8);
	assert_status(request(&arena, "GET /greet", "", (str){ 0 }), "200");
}

/* Clients that hold reserved connections, silent or in the middle of a request. */
static void reserved_connections_cannot_be_held(void **state)
{
	AUTO_ARENA arena = { 0 };
	int fds[8 + 4 * HTTP_RESERVED_CONNECTIONS];

	(void)state;
	occupy(fds);
	for (size_t i = 8; i < ARRAY_LEN(fds); i++) {
		fds[i] = connect_to_server();
		if (i % 2)
			send_text(fds[i], STR("GET /healthy HTTP/1.1\r\nHost:"));
		clock_sleep_ms(2);
	}
	assert_status(request_until_answered(&arena, "GET /healthy"), "200");
	close_all(fds, ARRAY_LEN(fds));
	wait_for(&abandoned, 8);
}

/* The client gets a 503, unless the kernel drops it: that happens when the server closes a
 * connection of which it has not read all bytes. */
static void incomplete_requests_do_not_lock_out_others(void **state)
{
	AUTO_ARENA arena = { 0 };
	int64_t before = metric_get(&http_evicted_requests_total);
	int fds[40], told = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		fds[i] = connect_from(2 + (unsigned int)i);
		send_text(fds[i], STR("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n"));
		if (i % 2)
			send_text(fds[i], STR("\r\nhalf"));
		clock_sleep_ms(5); /* all within the timeout of a request */
	}
	assert_status(request_until_answered(&arena, "GET /greet"), "200");
	assert_true(metric_get(&http_evicted_requests_total) > before);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		told += str_ends_with(receive_all(&arena, fds[i]), STR("needed for another\n"));
	assert_in_range(told, 1, metric_get(&http_evicted_requests_total) - before);
	close_all(fds, ARRAY_LEN(fds));
}

static void one_address_has_its_share_of_the_connections(void **state)
{
	AUTO_ARENA arena = { 0 };
	int64_t before = metric_get(&http_share_refused_total);
	int fds[7];

	(void)state;
	awaited = abandoned = 0;
	for (int i = 0; i < 6; i++) {
		fds[i] = connect_from(2);
		send_text(fds[i], STR("GET /patient HTTP/1.1\r\nHost: x\r\n\r\n"));
		wait_for(&awaited, i + 1);
	}
	fds[6] = connect_from(2);
	send_text(fds[6], STR("GET /greet HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
	assert_status(receive_all(&arena, fds[6]), "503");
	assert_int_equal(metric_get(&http_share_refused_total), before + 1);
	assert_status(request(&arena, "GET /greet", "", (str){ 0 }), "200");
	close_all(fds, ARRAY_LEN(fds));
	wait_for(&abandoned, 6);
}

static void idle_connections_do_not_lock_out_others(void **state)
{
	AUTO_ARENA arena = { 0 };
	int64_t before = metric_get(&http_evictions_total);
	int fds[40];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		fds[i] = connect_to_server();
		clock_sleep_ms(5); /* all within the timeout of an idle connection */
	}
	assert_status(request_until_answered(&arena, "GET /greet"), "200");
	assert_true(metric_get(&http_evictions_total) > before);
	close_all(fds, ARRAY_LEN(fds));
}

static void *ask_slow(void *arena)
{
	static str response;

	response = request(arena, "GET /slow", "", (str){ 0 });
	return &response;
}

static void a_shutdown_waits_for_requests(void **state)
{
	AUTO_ARENA arena = { 0 };
	pthread_t asker;
	void *response;

	(void)state;
	pthread_create(&asker, NULL, ask_slow, &arena);
	clock_sleep_ms(200);
	http_stop(&server);
	pthread_join(asker, &response);
	assert_true(str_ends_with(*(str *)response, STR("slept")));
}

RUN_WITH_SERVER(&options, TEST(a_slow_client_is_disconnected),
		TEST(a_client_that_does_not_read_its_response_is_disconnected),
		TEST(a_response_has_the_deadline_of_its_request),
		TEST(aborted_requests_leak_no_memory),
		TEST(a_handler_may_take_longer_than_a_request),
		TEST(a_handler_is_cancelled_when_its_client_disconnects),
		TEST(requests_beyond_the_limit_are_rejected_but_not_those_for_health),
		TEST(reserved_connections_cannot_be_held),
		TEST(incomplete_requests_do_not_lock_out_others),
		TEST(one_address_has_its_share_of_the_connections),
		TEST(idle_connections_do_not_lock_out_others), TEST(a_shutdown_waits_for_requests))
