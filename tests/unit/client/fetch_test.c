// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "support/fetch_stand.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>

static void give(void *service, const struct http_request *req, struct http_response *res)
{
	char *bytes = arena_array(req->arena, char, LONG);

	(void)service;
	memset(bytes, 'x', LONG);
	res->body = (str){ bytes, LONG };
}

static void echo_target(void *service, const struct http_request *req, struct http_response *res)
{
	(void)service;
	res->body = str_format(req->arena, STR_FMT "|" STR_FMT, STR_ARG(req->path),
			       STR_ARG(http_header(req, "x-greeting")));
}

static void send_on(void *service, const struct http_request *req, struct http_response *res)
{
	static struct http_param header = { { "Location", 8 }, { NULL, 0 } };

	(void)service;
	header.value = STR("/target/there");
	res->status = 302;
	res->headers = &header;
	res->header_count = 1;
	res->body = str_copy(req->arena, STR("not this"));
}

static void send_in_circles(void *service, const struct http_request *req,
			    struct http_response *res)
{
	static const struct http_param header = { { "Location", 8 }, { "/circle", 7 } };

	(void)service;
	(void)req;
	res->status = 302;
	res->headers = &header;
	res->header_count = 1;
}

static const struct http_route routes[] = {
	{ .method = "GET", .path = "/long", .handle = give },
	{ .method = "GET", .path = "/target/", .handle = echo_target },
	{ .method = "GET", .path = "/on", .handle = send_on },
	{ .method = "GET", .path = "/circle", .handle = send_in_circles },
};

static void delivers_the_body_in_pieces(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct buf kept;
	struct fetch fetch = fetch_of(&arena, "/long", &kept);
	int status = 0;
	struct err err;

	(void)state;
	assert_true(fetch_get(&fetch, &status, &err));
	assert_int_equal(status, 200);
	assert_int_equal(kept.len, LONG);
}

static void path_and_header_are_sent_unchanged(void **state)
{
	static const char *const headers[] = { "X-Greeting: good day" };
	AUTO_ARENA arena = { 0 };
	struct buf kept;
	struct fetch fetch = fetch_of(&arena, "/target/a/../%23b", &kept);
	int status = 0;
	struct err err;

	(void)state;
	fetch.headers = headers;
	fetch.header_count = 1;
	assert_true(fetch_get(&fetch, &status, &err));
	assert_true(str_eq(buf_bytes(&kept), STR("/target/a/../#b|good day")));
}

static void redirects_are_followed_up_to_a_limit(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct buf kept;
	struct fetch fetch = fetch_of(&arena, "/on", &kept);
	int status = 0;
	struct err err;

	(void)state;
	assert_true(fetch_get(&fetch, &status, &err));
	assert_true(str_eq(buf_bytes(&kept), STR("/target/there|")));
	fetch = fetch_of(&arena, "/circle", &kept);
	assert_false(fetch_get(&fetch, &status, &err));
	assert_int_equal(err.code, ERR_IO);
}

static void an_error_response_is_only_its_status(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct buf kept;
	struct fetch fetch = fetch_of(&arena, "/nowhere", &kept);
	int status = 0;
	struct err err;

	(void)state;
	assert_true(fetch_get(&fetch, &status, &err));
	assert_int_equal(status, 404);
	assert_int_equal(kept.len, 0);
}

static bool refuse(void *self, str piece, struct err *err)
{
	(void)self;
	(void)piece;
	return err_set(err, ERR_INVALID, "no room");
}

static void a_body_that_is_too_long_or_rejected_is_an_error(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct buf kept;
	struct fetch fetch = fetch_of(&arena, "/long", &kept);
	int status = -1;
	struct err err;

	(void)state;
	fetch.body_max = LONG - 1;
	assert_false(fetch_get(&fetch, &status, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	assert_true(kept.len < LONG);
	fetch = fetch_of(&arena, "/long", &kept);
	fetch.on_body = refuse;
	assert_false(fetch_get(&fetch, &status, &err));
	assert_int_equal(err.code, ERR_INVALID);
	assert_non_null(strstr(err.msg, "no room"));
	assert_int_equal(status, -1);
}

/* A socket that listens and never responds. */
static int silence(char *url, size_t cap)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	snprintf(url, cap, "http://127.0.0.1:%u/", (unsigned int)ntohs(address.sin_port));
	return fd;
}

static void *request_cancel(void *cancel)
{
	clock_sleep_ms(300);
	cancel_request(cancel);
	return NULL;
}

static void silence_ends_at_a_timeout_or_a_cancellation(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct cancel cancel = { .fd = -1 };
	char url[64];
	AUTO_FD fd = silence(url, sizeof(url));
	struct buf kept;
	struct fetch fetch = fetch_of(&arena, "/", &kept);
	uint64_t began = clock_monotonic_ns();
	pthread_t asker;
	int status;
	struct err err;

	(void)state;
	(void)fd; /* closed at the end of the scope */
	fetch.url = url;
	fetch.timeout_ms = 300;
	assert_false(fetch_get(&fetch, &status, &err));
	assert_int_equal(err.code, ERR_TIMEOUT);
	assert_true(clock_monotonic_ns() - began < 10 * NS_PER_SECOND);

	assert_true(cancel_open(&cancel, &err));
	fetch.timeout_ms = 60000;
	fetch.stall_ms = 60000;
	fetch.cancel = &cancel;
	began = clock_monotonic_ns();
	pthread_create(&asker, NULL, request_cancel, &cancel);
	assert_false(fetch_get(&fetch, &status, &err));
	assert_int_equal(err.code, ERR_CANCELLED);
	assert_true(clock_monotonic_ns() - began < 20 * NS_PER_SECOND);
	pthread_join(asker, NULL);
	cancel_close(&cancel);
}

static void other_schemes_are_rejected(void **state)
{
	static const char *const urls[] = { "file:///etc/passwd", "ftp://127.0.0.1/", "", "::" };
	AUTO_ARENA arena = { 0 };
	struct buf kept;
	int status;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
		struct fetch fetch = fetch_of(&arena, "/", &kept);
		struct err err = { 0 };

		fetch.url = urls[i];
		assert_false(fetch_get(&fetch, &status, &err));
		assert_int_equal(kept.len, 0);
	}
}

RUN_WITH_SERVER(&(struct http_options){ OWN_ROUTES(routes) }, TEST(delivers_the_body_in_pieces),
		TEST(path_and_header_are_sent_unchanged),
		TEST(redirects_are_followed_up_to_a_limit),
		TEST(an_error_response_is_only_its_status),
		TEST(a_body_that_is_too_long_or_rejected_is_an_error),
		TEST(silence_ends_at_a_timeout_or_a_cancellation), TEST(other_schemes_are_rejected))
