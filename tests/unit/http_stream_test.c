// SPDX-License-Identifier: Apache-2.0
/*
 * Bodies that a handler takes in pieces, as they come.
 */
#include "http_stand.h"

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

static const struct http_route routes[] = {
	{ .method = "PUT",
	  .path = "/upload",
	  .handle = upload_answer,
	  .body_max = UPLOAD_MAX,
	  .stream = &upload_stream },
};

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

RUN_WITH_SERVER(IMPATIENT(routes), TEST(a_streamed_body_is_taken_in_pieces),
		TEST(a_stream_says_no_before_the_body_is_asked_for),
		TEST(a_stream_that_says_yes_asks_for_the_body), TEST(a_stream_says_no_to_a_piece),
		TEST(a_streamed_body_has_a_limit), TEST(a_stream_that_breaks_off_is_ended),
		TEST(a_streamed_body_may_take_longer_than_a_request))
