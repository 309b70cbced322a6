// SPDX-License-Identifier: Apache-2.0
#include "base/buf.h"
#include "base/clock.h"
#include "chassis/http.h"
#include "chassis/limits.h"
#include "chassis/socket.h"
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>

/* A server on a port of its own, and what a socket hears from it. */
static struct http_server server;
static char address[64];

static void greet(void *service, const struct http_request *req, struct http_response *res)
{
	static const struct http_param header = { { "X-Test", 6 }, { "yes", 3 } };

	(void)service;
	res->headers = &header;
	res->header_count = 1;
	res->body = str_format(req->arena, "hello " STR_FMT, STR_ARG(http_query(req, "name")));
}

static void echo(void *service, const struct http_request *req, struct http_response *res)
{
	(void)service;
	res->status = 201;
	res->body = req->body;
}

/* More than sockets hold, so that it is sent only as it is taken. */
enum { LARGE = 4 << 20 };

static void large(void *service, const struct http_request *req, struct http_response *res)
{
	(void)service;
	res->body = (str){ arena_array(req->arena, char, LARGE), LARGE };
}

static void below(void *service, const struct http_request *req, struct http_response *res)
{
	(void)service;
	res->body = req->below;
}

static void slow(void *service, const struct http_request *req, struct http_response *res)
{
	(void)service;
	(void)req;
	clock_sleep_ms(600);
	res->body = STR("slept");
}

/* How often this handler began, and how often its client had left before 20 s were over. */
static _Atomic int awaited, abandoned;

static void patient(void *service, const struct http_request *req, struct http_response *res)
{
	(void)service;
	(void)res;
	awaited++;
	abandoned += !stop_wait(req->gone, 20000);
}

static void refuse(void *service, const struct http_request *req, const char *why,
		   struct http_response *res)
{
	(void)service;
	res->body = str_format(req->arena, "refused: %s", why);
}

/* What a streamed body did: its bytes, and how often it ended. */
static struct {
	size_t bytes;
	int begun, handled;
	_Atomic int ended;
} upload;

static bool upload_begin(void *service, struct http_request *req, struct http_response *res)
{
	(void)service;
	if (str_eq(http_header(req, "x-want"), STR("no"))) {
		res->status = 409;
		res->body = STR("have it");
		return false;
	}
	upload.begun++;
	upload.bytes = 0;
	req->stream = &upload;
	return true;
}

static bool upload_take(void *service, const struct http_request *req, str piece,
			struct http_response *res)
{
	(void)service;
	assert_ptr_equal(req->stream, &upload);
	upload.bytes += piece.len;
	if (!memchr(piece.ptr, '!', piece.len))
		return true;
	res->status = 400;
	res->body = STR("no exclamations");
	return false;
}

static void upload_end(void *service, const struct http_request *req)
{
	(void)service;
	assert_ptr_equal(req->stream, &upload);
	upload.ended++;
}

static void upload_answer(void *service, const struct http_request *req, struct http_response *res)
{
	(void)service;
	upload.handled++;
	res->status = 201;
	res->body = str_format(req->arena, "took %zu", upload.bytes);
}

static const struct http_stream upload_stream = { .begin = upload_begin,
						  .take = upload_take,
						  .end = upload_end,
						  .whole_ms = 20000,
						  .stall_ms = 1500 };
enum { UPLOAD_MAX = 4 << 20 };

/* The middle of a file of ten digits. */
static void digits(void *service, const struct http_request *req, struct http_response *res)
{
	struct http_file *file = arena_new(req->arena, struct http_file);
	FILE *temp = tmpfile();

	(void)service;
	assert_non_null(temp);
	assert_true(fputs("0123456789", temp) >= 0 && fflush(temp) == 0);
	*file = (struct http_file){ .fd = dup(fileno(temp)), .offset = 3, .len = 4 };
	fclose(temp);
	res->file = file;
}

static const struct http_route routes[] = {
	{ .method = "PUT",
	  .path = "/upload",
	  .handle = upload_answer,
	  .body_max = UPLOAD_MAX,
	  .stream = &upload_stream },
	{ .method = "GET", .path = "/digits", .handle = digits },
	{ .method = "GET", .path = "/", .handle = greet },
	{ .method = "GET", .path = "/greet", .handle = greet },
	{ .method = "POST", .path = "/echo", .handle = echo, .body_max = 1000 },
	{ .method = "GET", .path = "/below/", .handle = below },
	{ .method = "GET", .path = "/slow", .handle = slow },
	{ .method = "GET", .path = "/large", .handle = large },
	{ .method = "GET", .path = "/patient", .handle = patient },
};

static int start(void **state)
{
	struct http_options options = { .address = "127.0.0.1:0",
					.routes = routes,
					.route_count = ARRAY_LEN(routes),
					.refuse = refuse,
					.connections = 8,
					.receive_ms = 400,
					.send_ms = 500 };
	struct err err;

	(void)state;
	if (!http_start(&server, &options, &err))
		return -1;
	snprintf(address, sizeof(address), "127.0.0.1:%u", (unsigned int)server.port);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	http_stop(&server);
	return 0;
}

static str hear(struct arena *arena, int fd)
{
	struct buf heard = { .arena = arena };
	ssize_t n;

	while ((n = recv(fd, buf_reserve(&heard, 4096), 4096, 0)) > 0)
		heard.len += (size_t)n;
	return buf_bytes(&heard);
}

static int dial(void)
{
	struct err err;
	int fd = -1;

	assert_true(socket_connect(address, 5000, &fd, &err));
	return fd;
}

static void say(int fd, str text)
{
	assert_int_equal(send(fd, text.ptr, text.len, MSG_NOSIGNAL), text.len);
}

static str ask(struct arena *arena, const char *line, const char *headers, str body)
{
	AUTO_FD fd = dial();

	say(fd, str_format(arena, "%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n", line,
			   headers));
	if (body.len)
		say(fd, body);
	return hear(arena, fd);
}

static void assert_status(str answer, const char *status)
{
	assert_true(answer.len > 12);
	assert_memory_equal(answer.ptr + 9, status, 3);
}

static void answers_with_decoded_parameters_and_length(void **state)
{
	AUTO_ARENA arena = { 0 };
	str answer = ask(&arena, "GET /greet?x=1&name=a%20b+c", "", (str){ 0 });

	(void)state;
	assert_status(answer, "200");
	assert_true(str_ends_with(answer, STR("\r\n\r\nhello a b c")));
	assert_true(str_find(answer, STR("Content-Length: 11\r\n")) != SIZE_MAX);
	assert_true(str_find(answer, STR("Content-Type: text/plain; charset=utf-8\r\n")) !=
		    SIZE_MAX);
	assert_true(str_find(answer, STR("X-Test: yes\r\n")) != SIZE_MAX);
}

static void head_is_get_without_the_body(void **state)
{
	AUTO_ARENA arena = { 0 };
	str answer = ask(&arena, "HEAD /greet?name=ab", "", (str){ 0 });

	(void)state;
	assert_status(answer, "200");
	assert_true(str_find(answer, STR("Content-Length: 8\r\n")) != SIZE_MAX);
	assert_true(str_ends_with(answer, STR("\r\n\r\n")));
}

static void a_path_with_a_slash_takes_all_below(void **state)
{
	AUTO_ARENA arena = { 0 };
	str answer = ask(&arena, "GET /below/a%20b/values", "", (str){ 0 });

	(void)state;
	assert_status(answer, "200");
	assert_true(str_ends_with(answer, STR("\r\n\r\na b/values")));
}

static void the_root_is_itself_alone(void **state)
{
	AUTO_ARENA arena = { 0 };

	(void)state;
	assert_status(ask(&arena, "GET /", "", (str){ 0 }), "200");
	assert_status(ask(&arena, "GET /nowhere", "", (str){ 0 }), "404");
}

static void refusals_have_their_status_and_sentence(void **state)
{
	AUTO_ARENA arena = { 0 };
	str answer = ask(&arena, "GET /nowhere", "", (str){ 0 });

	(void)state;
	assert_status(answer, "404");
	assert_true(str_ends_with(answer, STR("refused: there is nothing at this path")));
	answer = ask(&arena, "DELETE /greet", "", (str){ 0 });
	assert_status(answer, "405");
	assert_true(str_find(answer, STR("Allow: GET\r\n")) != SIZE_MAX);
	assert_status(ask(&arena, "GET /greet?name=%zz", "", (str){ 0 }), "400");
}

static void a_url_too_long_is_414(void **state)
{
	AUTO_ARENA arena = { 0 };
	size_t len = HTTP_URL_MAX + 1;
	char *line = arena_array(&arena, char, len + 16);

	(void)state;
	memcpy(line, "GET /greet?name=", 16);
	memset(line + 16, 'a', len - 16 + 4);
	assert_status(ask(&arena, line, "", (str){ 0 }), "414");
	line[4 + HTTP_URL_MAX] = 0;
	assert_status(ask(&arena, line, "", (str){ 0 }), "200");
}

static void collects_a_body_up_to_its_limit(void **state)
{
	AUTO_ARENA arena = { 0 };
	char *text = arena_array(&arena, char, 4000);
	str answer;

	(void)state;
	memset(text, 'x', 4000);
	answer = ask(&arena, "POST /echo", "Content-Length: 1000\r\n", (str){ text, 1000 });
	assert_status(answer, "201");
	assert_true(str_find(answer, STR("Content-Length: 1000\r\n")) != SIZE_MAX);
	assert_status(ask(&arena, "POST /echo", "Content-Length: 1001\r\n", (str){ text, 1001 }),
		      "413");
	assert_status(ask(&arena, "POST /echo",
			  "Content-Length: 99999999\r\nExpect: 100-continue\r\n", (str){ 0 }),
		      "413");
	assert_status(ask(&arena, "GET /greet", "Content-Length: 1\r\n", STR("x")), "413");
}

static void a_chunked_body_has_the_same_limit(void **state)
{
	AUTO_ARENA arena = { 0 };
	char *text = arena_array(&arena, char, 5 + 1001 + 7);
	str answer = ask(&arena, "POST /echo", "Transfer-Encoding: chunked\r\n",
			 STR("3\r\nabc\r\n0\r\n\r\n"));

	(void)state;
	assert_status(answer, "201");
	assert_true(str_ends_with(answer, STR("\r\n\r\nabc")));
	memcpy(text, "3e9\r\n", 5);
	memset(text + 5, 'x', 1001);
	memcpy(text + 5 + 1001, "\r\n0\r\n\r\n", 7);
	assert_status(ask(&arena, "POST /echo", "Transfer-Encoding: chunked\r\n",
			  (str){ text, 5 + 1001 + 7 }),
		      "413");
}

static void a_piece_of_a_file_is_a_body(void **state)
{
	AUTO_ARENA arena = { 0 };
	str answer = ask(&arena, "GET /digits", "", (str){ 0 });

	(void)state;
	assert_status(answer, "200");
	assert_true(str_find(answer, STR("Content-Length: 4\r\n")) != SIZE_MAX);
	assert_true(str_ends_with(answer, STR("\r\n\r\n3456")));
	answer = ask(&arena, "HEAD /digits", "", (str){ 0 });
	assert_true(str_find(answer, STR("Content-Length: 4\r\n")) != SIZE_MAX);
	assert_true(str_ends_with(answer, STR("\r\n\r\n")));
}

/* The end comes after the answer: wait for it. */
static void assert_ended(int times)
{
	for (int tries = 0; upload.ended < times && tries < 500; tries++)
		clock_sleep_ms(20);
	assert_int_equal(upload.ended, times);
}

static void a_streamed_body_is_taken_in_pieces(void **state)
{
	enum { LEN = 3 << 20 };
	AUTO_ARENA arena = { 0 };
	char *text = arena_array(&arena, char, LEN);
	int ended = upload.ended, handled = upload.handled;
	str answer;

	(void)state;
	memset(text, 'x', LEN);
	answer = ask(&arena, "PUT /upload", "Content-Length: 3145728\r\n", (str){ text, LEN });
	assert_status(answer, "201");
	assert_true(str_ends_with(answer, STR("took 3145728")));
	answer = ask(&arena, "PUT /upload", "Transfer-Encoding: chunked\r\n",
		     STR("3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n"));
	assert_status(answer, "201");
	assert_true(str_ends_with(answer, STR("took 7")));
	assert_ended(ended + 2);
	assert_int_equal(upload.handled, handled + 2);
}

static void a_stream_says_no_before_the_body_is_asked_for(void **state)
{
	AUTO_ARENA arena = { 0 };
	int begun = upload.begun;
	str answer = ask(&arena, "PUT /upload",
			 "Content-Length: 1000000\r\nExpect: 100-continue\r\nX-Want: no\r\n",
			 (str){ 0 });

	(void)state;
	assert_status(answer, "409");
	assert_true(str_find(answer, STR("100 Continue")) == SIZE_MAX);
	assert_true(str_ends_with(answer, STR("have it")));
	assert_int_equal(upload.begun, begun);
}

static void a_stream_that_says_yes_asks_for_the_body(void **state)
{
	AUTO_ARENA arena = { 0 };
	AUTO_FD fd = dial();
	char heard[64];
	str answer;

	(void)state;
	say(fd, STR("PUT /upload HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
		    "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n"));

	ssize_t n = recv(fd, heard, sizeof(heard), 0);

	assert_true(n > 0);
	assert_true(str_eq((str){ heard, (size_t)n }, STR("HTTP/1.1 100 Continue\r\n\r\n")));
	say(fd, STR("hello"));
	answer = hear(&arena, fd);
	assert_status(answer, "201");
	assert_true(str_ends_with(answer, STR("took 5")));
}

static void a_stream_says_no_to_a_piece(void **state)
{
	AUTO_ARENA arena = { 0 };
	int ended = upload.ended, handled = upload.handled;
	str answer = ask(&arena, "PUT /upload", "Content-Length: 6\r\n", STR("hello!"));

	(void)state;
	assert_status(answer, "400");
	assert_true(str_ends_with(answer, STR("no exclamations")));
	assert_ended(ended + 1);
	assert_int_equal(upload.handled, handled);
}

static void a_streamed_body_has_a_limit(void **state)
{
	enum { EXTRA = 100 };
	AUTO_ARENA arena = { 0 };
	char *text = arena_array(&arena, char, 8 + UPLOAD_MAX + EXTRA + 7);
	int ended = upload.ended, handled = upload.handled;

	(void)state;
	assert_status(ask(&arena, "PUT /upload",
			  "Content-Length: 4194305\r\nExpect: 100-continue\r\n", (str){ 0 }),
		      "413");
	memset(text, 'x', 8 + UPLOAD_MAX + EXTRA);
	memcpy(text, "400064\r\n", 8);
	memcpy(text + 8 + UPLOAD_MAX + EXTRA, "\r\n0\r\n\r\n", 7);
	assert_status(ask(&arena, "PUT /upload", "Transfer-Encoding: chunked\r\n",
			  (str){ text, 8 + UPLOAD_MAX + EXTRA + 7 }),
		      "413");
	assert_ended(ended + 1);
	assert_int_equal(upload.handled, handled);
}

/* One that stops sending, one that goes away: neither is answered, both are ended. */
static void a_stream_that_breaks_off_is_ended(void **state)
{
	int ended = upload.ended, handled = upload.handled;
	int64_t cut = metric_get(&http_timeouts_total);
	AUTO_ARENA arena = { 0 };
	AUTO_FD stalls = dial();
	AUTO_FD leaves = -1;
	str head = STR("PUT /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf");

	(void)state;
	say(stalls, head);
	assert_int_equal(hear(&arena, stalls).len, 0);
	assert_ended(ended + 1);
	assert_int_equal(metric_get(&http_timeouts_total), cut + 1);
	leaves = dial();
	say(leaves, head);
	close(fd_take(&leaves));
	assert_ended(ended + 2);
	assert_int_equal(upload.handled, handled);
}

/* The server's requests may take a second; this one takes longer, and never stalls. */
static void a_streamed_body_may_take_longer_than_a_request(void **state)
{
	AUTO_ARENA arena = { 0 };
	AUTO_FD fd = dial();

	(void)state;
	say(fd, STR("PUT /upload HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
		    "Content-Length: 14\r\n\r\n"));
	for (int i = 0; i < 14; i++) {
		clock_sleep_ms(80);
		say(fd, STR("."));
	}
	assert_status(hear(&arena, fd), "201");
}

static void a_client_that_dawdles_is_cut(void **state)
{
	AUTO_FD fd = dial();
	uint64_t began = clock_monotonic_ns();
	int64_t cut = metric_get(&http_timeouts_total);
	ssize_t sent = 1;

	(void)state;
	/* A byte now and then, for longer than a whole request may take. */
	while (sent > 0 && metric_get(&http_timeouts_total) == cut &&
	       clock_monotonic_ns() - began < 5 * NS_PER_SECOND) {
		sent = send(fd, "G", 1, MSG_NOSIGNAL);
		clock_sleep_ms(50);
	}
	assert_true(metric_get(&http_timeouts_total) == cut + 1);
	assert_true(clock_monotonic_ns() - began < 2 * NS_PER_SECOND);
}

/* Its answer's deadline grows with the bytes: a second for each HTTP_SLOWEST_BYTES. */
static void a_client_that_does_not_take_its_answer_is_cut(void **state)
{
	AUTO_FD fd = dial();
	uint64_t began = clock_monotonic_ns();
	int64_t cut = metric_get(&http_timeouts_total);
	char room[65536];
	ssize_t got, taken = 0;

	(void)state;
	say(fd, STR("GET /large HTTP/1.1\r\nHost: x\r\n\r\n"));
	while (metric_get(&http_timeouts_total) == cut &&
	       clock_monotonic_ns() - began < 60 * NS_PER_SECOND)
		clock_sleep_ms(20);
	assert_true(metric_get(&http_timeouts_total) == cut + 1);
	assert_true(clock_monotonic_ns() - began >= LARGE / HTTP_SLOWEST_BYTES * NS_PER_SECOND);
	while ((got = recv(fd, room, sizeof(room), 0)) > 0)
		taken += got;
	assert_true(taken < LARGE);
}

/* For the sanitizer: what a request had is freed however it ends. */
static void requests_that_break_off_leave_nothing(void **state)
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
		AUTO_FD fd = dial();

		say(fd, str_from(rows[i]));
		shutdown(fd, SHUT_WR);
		hear(&arena, fd);
	}
	assert_status(ask(&arena, "GET /greet", "", (str){ 0 }), "200");
}

static void a_handler_may_take_longer_than_a_request(void **state)
{
	AUTO_ARENA arena = { 0 };

	(void)state;
	assert_true(str_ends_with(ask(&arena, "GET /slow", "", (str){ 0 }), STR("slept")));
}

static void wait_for(_Atomic int *count, int expected)
{
	for (int tries = 0; *count != expected && tries < 1000; tries++)
		clock_sleep_ms(20);
	assert_int_equal(*count, expected);
}

static void a_handler_learns_that_its_client_has_left(void **state)
{
	(void)state;
	awaited = abandoned = 0;
	for (int i = 0; i < 3; i++) {
		AUTO_FD fd = dial();

		say(fd, STR("GET /patient HTTP/1.1\r\nHost: x\r\n\r\n"));
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

static void connections_beyond_the_limit_are_refused(void **state)
{
	AUTO_ARENA arena = { 0 };
	int64_t before = metric_get(&http_refused_total);
	int fds[9];
	char byte;

	(void)state;
	awaited = abandoned = 0;
	for (int i = 0; i < 8; i++) {
		fds[i] = dial();
		say(fds[i], STR("GET /patient HTTP/1.1\r\nHost: x\r\n\r\n"));
		wait_for(&awaited, i + 1);
	}
	fds[8] = dial();
	assert_int_equal(recv(fds[8], &byte, 1, 0), 0);
	assert_int_equal(metric_get(&http_refused_total), before + 1);
	close_all(fds, ARRAY_LEN(fds));
	wait_for(&abandoned, 8);
	assert_status(ask(&arena, "GET /greet", "", (str){ 0 }), "200");
}

static void idle_connections_do_not_keep_others_out(void **state)
{
	AUTO_ARENA arena = { 0 };
	int64_t before = metric_get(&http_evictions_total);
	str answer = { 0 };
	int fds[40];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		fds[i] = dial();
		clock_sleep_ms(5); /* all within the time that an idle one may stay */
	}
	/* Places are free again as soon as the threads of those that were cut have ended. */
	for (int tries = 0; answer.len == 0 && tries < 200; tries++) {
		AUTO_FD fd = dial();

		say(fd, STR("GET /greet HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
		answer = hear(&arena, fd);
	}
	assert_status(answer, "200");
	assert_true(metric_get(&http_evictions_total) > before);
	close_all(fds, ARRAY_LEN(fds));
}

static void *ask_slow(void *arena)
{
	static str answer;

	answer = ask(arena, "GET /slow", "", (str){ 0 });
	return &answer;
}

static void a_stop_lets_requests_end(void **state)
{
	AUTO_ARENA arena = { 0 };
	pthread_t asker;
	void *answer;

	(void)state;
	pthread_create(&asker, NULL, ask_slow, &arena);
	clock_sleep_ms(200);
	http_stop(&server);
	pthread_join(asker, &answer);
	assert_true(str_ends_with(*(str *)answer, STR("slept")));
}

static void says_what_is_wrong_with_an_address(void **state)
{
	static const char *const rows[] = {
		"", "7070", "x", "::1:7070", "127.0.0.1:99999", "[::1"
	};
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct http_server other = { 0 };
		struct http_options options = { .address = rows[i] };

		assert_false(http_start(&other, &options, &err));
		assert_int_equal(err.code, ERR_INVALID);
		http_stop(&other);
	}
}

static void listens_on_every_address_and_ipv6(void **state)
{
	static const char *const rows[] = { ":0", "localhost:0", "[::1]:0" };
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct http_server other = { 0 };
		struct http_options options = { .address = rows[i], .routes = routes };
		AUTO_FD fd = -1;
		char port[16];

		if (!http_start(&other, &options, &err)) {
			assert_int_equal(i, 2); /* a machine without IPv6 */
			continue;
		}
		snprintf(port, sizeof(port), "%s:%u", i == 2 ? "[::1]" : "",
			 (unsigned int)other.port);
		assert_true(socket_connect(port, 1000, &fd, &err));
		http_stop(&other);
	}
}

int main(void)
{
	const struct CMUnitTest with_server[] = {
		TEST(answers_with_decoded_parameters_and_length),
		TEST(head_is_get_without_the_body),
		TEST(a_path_with_a_slash_takes_all_below),
		TEST(the_root_is_itself_alone),
		TEST(refusals_have_their_status_and_sentence),
		TEST(a_url_too_long_is_414),
		TEST(collects_a_body_up_to_its_limit),
		TEST(a_chunked_body_has_the_same_limit),
		TEST(a_piece_of_a_file_is_a_body),
		TEST(a_streamed_body_is_taken_in_pieces),
		TEST(a_stream_says_no_before_the_body_is_asked_for),
		TEST(a_stream_that_says_yes_asks_for_the_body),
		TEST(a_stream_says_no_to_a_piece),
		TEST(a_streamed_body_has_a_limit),
		TEST(a_stream_that_breaks_off_is_ended),
		TEST(a_streamed_body_may_take_longer_than_a_request),
		TEST(a_client_that_dawdles_is_cut),
		TEST(a_client_that_does_not_take_its_answer_is_cut),
		TEST(requests_that_break_off_leave_nothing),
		TEST(a_handler_may_take_longer_than_a_request),
		TEST(a_handler_learns_that_its_client_has_left),
		TEST(connections_beyond_the_limit_are_refused),
		TEST(idle_connections_do_not_keep_others_out),
		TEST(says_what_is_wrong_with_an_address),
		TEST(listens_on_every_address_and_ipv6),
		TEST(a_stop_lets_requests_end),
	};

	return cmocka_run_group_tests(with_server, start, stop);
}
