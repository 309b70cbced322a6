// SPDX-License-Identifier: Apache-2.0
/*
 * Bodies that a handler receives in pieces.
 */
#include "server/http/http_metrics_internal.h"
#include "support/http_stand.h"

#include <poll.h>

/* What the callbacks of the stream received: bytes, and number of calls. */
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
						  .on_piece = upload_take,
						  .end = upload_end,
						  .whole_ms = 20000,
						  .stall_ms = 1500 };
static const struct http_stream rated_stream = { .begin = upload_begin,
						 .on_piece = upload_take,
						 .end = upload_end,
						 .whole_ms = 600000,
						 .stall_ms = 1500,
						 .slowest_bytes = 64 << 10 };
enum { UPLOAD_MAX = 4 << 20 };

static const struct http_route routes[] = {
	{ .method = "PUT",
	  .path = "/upload",
	  .handle = upload_answer,
	  .body_max = UPLOAD_MAX,
	  .stream = &upload_stream },
	{ .method = "PUT",
	  .path = "/rated",
	  .handle = upload_answer,
	  .body_max = UPLOAD_MAX,
	  .stream = &rated_stream },
};

/* end() is called after the response was sent: wait for it. */
static void assert_ended(int times)
{
	for (int tries = 0; upload.ended < times && tries < 500; tries++)
		clock_sleep_ms(20);
	assert_int_equal(upload.ended, times);
}

static void a_streamed_body_is_received_in_pieces(void **state)
{
	enum { LEN = 3 << 20 };
	AUTO_ARENA arena = { 0 };
	char *text = arena_array(&arena, char, LEN);
	int ended = upload.ended, handled = upload.handled;
	str response;

	(void)state;
	memset(text, 'x', LEN);
	response =
		request(&arena, "PUT /upload", "Content-Length: 3145728\r\n", (str){ text, LEN });
	assert_status(response, "201");
	assert_true(str_ends_with(response, STR("took 3145728")));
	response = request(&arena, "PUT /upload", "Transfer-Encoding: chunked\r\n",
			   STR("3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n"));
	assert_status(response, "201");
	assert_true(str_ends_with(response, STR("took 7")));
	assert_ended(ended + 2);
	assert_int_equal(upload.handled, handled + 2);
}

static void begin_can_reject_before_the_body_is_sent(void **state)
{
	AUTO_ARENA arena = { 0 };
	int begun = upload.begun;
	str response = request(&arena, "PUT /upload",
			       "Content-Length: 1000000\r\nExpect: 100-continue\r\nX-Want: no\r\n",
			       (str){ 0 });

	(void)state;
	assert_status(response, "409");
	assert_true(str_find(response, STR("100 Continue")) == SIZE_MAX);
	assert_true(str_ends_with(response, STR("have it")));
	assert_int_equal(upload.begun, begun);
}

/* A client that reads only after it has sent everything, however large its buffers are. */
static void assert_rejected_while_sending(struct arena *arena, const char *head, str first,
					  str rest)
{
	AUTO_FD fd = connect_to_server();
	struct pollfd responded = { .fd = fd, .events = POLLIN };
	str response;

	send_text(fd, str_format(arena, "PUT /upload HTTP/1.1\r\nHost: x\r\nX-Want: no\r\n%s\r\n",
				 head));
	send_text(fd, first);
	assert_int_equal(poll(&responded, 1, 20000), 1);
	send_text(fd, rest);
	response = receive_all(arena, fd);
	assert_status(response, "409");
	assert_true(str_ends_with(response, STR("have it")));
}

static void a_client_that_sends_on_gets_the_early_response(void **state)
{
	enum { LEN = 3 << 20, CHUNK_HEAD = 8 };
	AUTO_ARENA arena = { 0 };
	char *text = arena_array(&arena, char, LEN);
	str first = { text, 1000 }, rest = { text, LEN - 1000 };

	(void)state;
	memset(text, 'x', LEN);
	for (int i = 0; i < 5; i++)
		assert_rejected_while_sending(&arena, "Content-Length: 3145728\r\n", first, rest);
	memcpy(text, "300000\r\n", CHUNK_HEAD);
	for (int i = 0; i < 5; i++)
		assert_rejected_while_sending(&arena, "Transfer-Encoding: chunked\r\n", first,
					      rest);
}

static void a_client_that_sends_on_gets_the_rejection_of_a_piece(void **state)
{
	enum { LEN = 3 << 20 };
	AUTO_ARENA arena = { 0 };
	char *text = arena_array(&arena, char, LEN);

	(void)state;
	memset(text, '!', LEN);
	assert_status(
		request(&arena, "PUT /upload", "Content-Length: 3145728\r\n", (str){ text, LEN }),
		"400");
}

static void begin_can_accept_and_the_client_gets_a_100(void **state)
{
	AUTO_ARENA arena = { 0 };
	AUTO_FD fd = connect_to_server();
	char received[64];
	str response;

	(void)state;
	send_text(fd, STR("PUT /upload HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
			  "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n"));

	ssize_t n = recv(fd, received, sizeof(received), 0);

	assert_true(n > 0);
	assert_true(str_eq((str){ received, (size_t)n }, STR("HTTP/1.1 100 Continue\r\n\r\n")));
	send_text(fd, STR("hello"));
	response = receive_all(&arena, fd);
	assert_status(response, "201");
	assert_true(str_ends_with(response, STR("took 5")));
}

static void a_stream_can_reject_a_piece(void **state)
{
	AUTO_ARENA arena = { 0 };
	int ended = upload.ended, handled = upload.handled;
	str response = request(&arena, "PUT /upload", "Content-Length: 6\r\n", STR("hello!"));

	(void)state;
	assert_status(response, "400");
	assert_true(str_ends_with(response, STR("no exclamations")));
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
	assert_status(request(&arena, "PUT /upload",
			      "Content-Length: 4194305\r\nExpect: 100-continue\r\n", (str){ 0 }),
		      "413");
	memset(text, 'x', 8 + UPLOAD_MAX + EXTRA);
	memcpy(text, "400064\r\n", 8);
	memcpy(text + 8 + UPLOAD_MAX + EXTRA, "\r\n0\r\n\r\n", 7);
	assert_status(request(&arena, "PUT /upload", "Transfer-Encoding: chunked\r\n",
			      (str){ text, 8 + UPLOAD_MAX + EXTRA + 7 }),
		      "413");
	assert_ended(ended + 1);
	assert_int_equal(upload.handled, handled);
}

/* A client that stops sending and one that disconnects: no response, but end() is called. */
static void an_aborted_stream_is_ended(void **state)
{
	int ended = upload.ended, handled = upload.handled;
	int64_t cut = metric_get(&http_timeouts_total);
	AUTO_ARENA arena = { 0 };
	AUTO_FD stalls = connect_to_server();
	AUTO_FD leaves = -1;
	str head = STR("PUT /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf");

	(void)state;
	send_text(stalls, head);
	assert_int_equal(receive_all(&arena, stalls).len, 0);
	assert_ended(ended + 1);
	assert_int_equal(metric_get(&http_timeouts_total), cut + 1);
	leaves = connect_to_server();
	send_text(leaves, head);
	close(fd_take(&leaves));
	assert_ended(ended + 2);
	assert_int_equal(upload.handled, handled);
}

/* Longer than the timeout of a request, but it never stalls. */
static void a_streamed_body_may_take_longer_than_a_request(void **state)
{
	AUTO_ARENA arena = { 0 };
	AUTO_FD fd = connect_to_server();

	(void)state;
	send_text(fd, STR("PUT /upload HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
			  "Content-Length: 14\r\n\r\n"));
	for (int i = 0; i < 14; i++) {
		clock_sleep_ms(80);
		send_text(fd, STR("."));
	}
	assert_status(receive_all(&arena, fd), "201");
}

/* Never a pause of stall_ms, and whole_ms is far away. */
static void a_body_below_the_least_rate_is_cut_off(void **state)
{
	enum { LEN = 1 << 20 };
	AUTO_ARENA arena = { 0 };
	AUTO_FD slow = connect_to_server();
	struct pollfd closed = { .fd = slow, .events = POLLRDHUP };
	int64_t cut = metric_get(&http_timeouts_total);
	int ended = upload.ended, handled = upload.handled, tries = 0;
	char *text = arena_array(&arena, char, LEN);

	(void)state;
	send_text(slow, STR("PUT /rated HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"));
	for (; tries < 300 && !poll(&closed, 1, 200); tries++)
		(void)!send(slow, ".", 1, MSG_NOSIGNAL);
	assert_true(tries < 300);
	assert_ended(ended + 1);
	assert_int_equal(metric_get(&http_timeouts_total), cut + 1);
	assert_int_equal(upload.handled, handled);

	memset(text, 'x', LEN);
	assert_status(
		request(&arena, "PUT /rated", "Content-Length: 1048576\r\n", (str){ text, LEN }),
		"201");
}

RUN_WITH_SERVER(WITH_SHORT_TIMEOUTS(routes), TEST(a_streamed_body_is_received_in_pieces),
		TEST(begin_can_reject_before_the_body_is_sent),
		TEST(a_client_that_sends_on_gets_the_early_response),
		TEST(a_client_that_sends_on_gets_the_rejection_of_a_piece),
		TEST(begin_can_accept_and_the_client_gets_a_100), TEST(a_stream_can_reject_a_piece),
		TEST(a_streamed_body_has_a_limit), TEST(an_aborted_stream_is_ended),
		TEST(a_streamed_body_may_take_longer_than_a_request),
		TEST(a_body_below_the_least_rate_is_cut_off))
