// SPDX-License-Identifier: Apache-2.0
/*
 * Against a server of our own, on a port of its own.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "chassis/http.h"
#include "client/fetch.h"
#include "test.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>

enum { LONG = 300000 };

static struct http_server server;

static void give(void *service, const struct http_request *req, struct http_response *res)
{
	char *bytes = arena_array(req->arena, char, LONG);

	(void)service;
	memset(bytes, 'x', LONG);
	res->body = (str){ bytes, LONG };
}

static void tell(void *service, const struct http_request *req, struct http_response *res)
{
	(void)service;
	res->body = str_format(req->arena, STR_FMT "|" STR_FMT, STR_ARG(req->path),
			       STR_ARG(http_header(req, "x-greeting")));
}

static void send_on(void *service, const struct http_request *req, struct http_response *res)
{
	static struct http_param header = { { "Location", 8 }, { NULL, 0 } };

	(void)service;
	header.value = STR("/tell/there");
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

static void echo(void *service, const struct http_request *req, struct http_response *res)
{
	bool is_refused = str_eq(req->body, STR("refuse"));

	(void)service;
	res->status = is_refused ? 422 : 200;
	res->body = is_refused ? STR("refused") : str_copy(req->arena, req->body);
}

/* What a PUT below /store/ took: of its own, for one that was broken off may still be read when the
 * next one comes. */
struct upload {
	uint64_t bytes;
	bool is_whole;
};

/* The uploads that ended, and the last of them. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int count;
	struct upload last;
} ended = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static bool store_begin(void *service, struct http_request *req, struct http_response *res)
{
	static const struct http_param later = { { "Retry-After", 11 }, { "17", 2 } };

	(void)service;
	req->stream = arena_new(req->arena, struct upload);
	if (str_eq(req->path, STR("/store/have"))) {
		res->status = 409;
		res->body = STR("have it");
		res->headers = &later;
		res->header_count = 1;
		return false;
	}
	return true;
}

static bool store_take(void *service, const struct http_request *req, str piece,
		       struct http_response *res)
{
	struct upload *upload = req->stream;

	(void)service, (void)res;
	for (size_t i = 0; i < piece.len; i++)
		assert_int_equal((unsigned char)piece.ptr[i],
				 (unsigned char)((upload->bytes + i) * 7 >> 3));
	upload->bytes += piece.len;
	return true;
}

static void store_finish(void *service, const struct http_request *req, struct http_response *res)
{
	struct upload *upload = req->stream;

	(void)service;
	upload->is_whole = true;
	res->status = 201;
	res->body = STR("stored");
}

static void store_end(void *service, const struct http_request *req)
{
	const struct upload *upload = req->stream;

	(void)service;
	pthread_mutex_lock(&ended.lock);
	ended.count++;
	ended.last = *upload;
	pthread_cond_signal(&ended.changed);
	pthread_mutex_unlock(&ended.lock);
}

/* The upload that ended since the last call. */
static struct upload upload_wait(void)
{
	struct upload last;

	pthread_mutex_lock(&ended.lock);
	while (ended.count == 0)
		pthread_cond_wait(&ended.changed, &ended.lock);
	assert_int_equal(ended.count, 1);
	ended.count = 0;
	last = ended.last;
	pthread_mutex_unlock(&ended.lock);
	return last;
}

static const struct http_stream store = { .begin = store_begin,
					  .take = store_take,
					  .end = store_end,
					  .whole_ms = 60000,
					  .stall_ms = 60000 };

static const struct http_route routes[] = {
	{ .method = "PUT",
	  .path = "/store/",
	  .handle = store_finish,
	  .body_max = 64 << 20,
	  .stream = &store },
	{ .method = "POST", .path = "/echo", .handle = echo, .body_max = 4 << 20 },
	{ .method = "GET", .path = "/long", .handle = give },
	{ .method = "GET", .path = "/tell/", .handle = tell },
	{ .method = "GET", .path = "/on", .handle = send_on },
	{ .method = "GET", .path = "/circle", .handle = send_in_circles },
};

static int start(void **state)
{
	struct http_options options = { .address = "127.0.0.1:0",
					.routes = routes,
					.route_count = ARRAY_LEN(routes) };
	struct err err;

	(void)state;
	unsetenv("http_proxy");
	return http_start(&server, &options, &err) ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	http_stop(&server);
	return 0;
}

static bool keep(void *self, str piece, struct err *err)
{
	struct buf *kept = self;

	buf_str(kept, piece);
	return kept->len < 1000000 || err_set(err, ERR_LIMIT, "never");
}

static bool refuse(void *self, str piece, struct err *err)
{
	(void)self;
	(void)piece;
	return err_set(err, ERR_INVALID, "no room");
}

static struct fetch fetch_of(struct arena *arena, const char *path, struct buf *kept)
{
	*kept = (struct buf){ .arena = arena };
	return (struct fetch){
		.url = str_z(arena, str_format(arena, "http://127.0.0.1:%u%s",
					       (unsigned int)server.port, path)),
		.timeout_ms = 20000,
		.stall_ms = 20000,
		.body_max = LONG,
		.take = keep,
		.self = kept,
	};
}

static void gives_the_body_away_in_pieces(void **state)
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

static void a_path_and_a_header_come_as_they_were_given(void **state)
{
	static const char *const headers[] = { "X-Greeting: good day" };
	AUTO_ARENA arena = { 0 };
	struct buf kept;
	struct fetch fetch = fetch_of(&arena, "/tell/a/../%23b", &kept);
	int status = 0;
	struct err err;

	(void)state;
	fetch.headers = headers;
	fetch.header_count = 1;
	assert_true(fetch_get(&fetch, &status, &err));
	assert_true(str_eq(buf_bytes(&kept), STR("/tell/a/../#b|good day")));
}

static void redirections_are_followed_and_have_an_end(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct buf kept;
	struct fetch fetch = fetch_of(&arena, "/on", &kept);
	int status = 0;
	struct err err;

	(void)state;
	assert_true(fetch_get(&fetch, &status, &err));
	assert_true(str_eq(buf_bytes(&kept), STR("/tell/there|")));
	fetch = fetch_of(&arena, "/circle", &kept);
	assert_false(fetch_get(&fetch, &status, &err));
	assert_int_equal(err.code, ERR_IO);
}

static void a_refusal_is_its_status_alone(void **state)
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

static void a_body_that_is_too_long_or_not_wanted_is_an_error(void **state)
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
	fetch.take = refuse;
	assert_false(fetch_get(&fetch, &status, &err));
	assert_int_equal(err.code, ERR_INVALID);
	assert_non_null(strstr(err.msg, "no room"));
	assert_int_equal(status, -1);
}

/* A socket that listens and never answers. */
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

static void *ask_to_stop(void *stop_flag)
{
	clock_sleep_ms(300);
	stop_ask(stop_flag);
	return NULL;
}

static void silence_ends_by_the_clock_or_by_a_stop(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct stop stop_flag = { .fd = -1 };
	char url[64];
	AUTO_FD fd = silence(url, sizeof(url));
	struct buf kept;
	struct fetch fetch = fetch_of(&arena, "/", &kept);
	uint64_t began = clock_monotonic_ns();
	pthread_t asker;
	int status;
	struct err err;

	(void)state;
	(void)fd; /* only to close it */
	fetch.url = url;
	fetch.timeout_ms = 300;
	assert_false(fetch_get(&fetch, &status, &err));
	assert_int_equal(err.code, ERR_IO);
	assert_true(clock_monotonic_ns() - began < 10 * NS_PER_SECOND);

	assert_true(stop_open(&stop_flag, &err));
	fetch.timeout_ms = 60000;
	fetch.stall_ms = 60000;
	fetch.stop = &stop_flag;
	began = clock_monotonic_ns();
	pthread_create(&asker, NULL, ask_to_stop, &stop_flag);
	assert_false(fetch_get(&fetch, &status, &err));
	assert_true(clock_monotonic_ns() - began < 20 * NS_PER_SECOND);
	pthread_join(asker, NULL);
	stop_close(&stop_flag);
}

static void posts_a_body_and_keeps_the_answer_whatever_its_status(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct buf kept;
	struct fetch fetch = fetch_of(&arena, "/echo", &kept);
	char *bytes = arena_array(&arena, char, 3 << 20);
	int status = 0;
	struct err err;

	(void)state;
	fetch.take = fetch_keep;
	fetch.body_max = 4 << 20;
	assert_true(fetch_post(&fetch, (str){ bytes, 3 << 20 }, &status, &err));
	assert_true(status == 200 && kept.len == 3 << 20);
	kept.len = 0;
	assert_true(fetch_post(&fetch, STR("refuse"), &status, &err));
	assert_int_equal(status, 422);
	assert_true(str_eq(buf_bytes(&kept), STR("refused")));
	kept.len = 0;
	assert_true(fetch_post(&fetch, STR(""), &status, &err));
	assert_true(status == 200 && kept.len == 0);
}

static void posts_to_a_server_that_was_started_anew(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct http_options options = { .routes = routes, .route_count = ARRAY_LEN(routes) };
	struct http_server other;
	struct buf kept = { .arena = &arena };
	struct fetch fetch = { .timeout_ms = 20000,
			       .stall_ms = 20000,
			       .body_max = 100,
			       .take = fetch_keep,
			       .self = &kept };
	int status = 0;
	struct err err;

	(void)state;
	options.address = "127.0.0.1:0";
	assert_true(http_start(&other, &options, &err));
	options.address =
		str_z(&arena, str_format(&arena, "127.0.0.1:%u", (unsigned int)other.port));
	fetch.url = str_z(&arena, str_format(&arena, "http://%s/echo", options.address));
	assert_true(fetch_post(&fetch, STR("one"), &status, &err));
	http_stop(&other);
	assert_false(fetch_post(&fetch, STR("none"), &status, &err));
	assert_int_equal(err.code, ERR_IO);
	assert_true(http_start(&other, &options, &err));
	assert_true(fetch_post(&fetch, STR("two"), &status, &err));
	assert_true(str_eq(buf_bytes(&kept), STR("onetwo")));
	http_stop(&other);
}

struct given {
	uint64_t fails_at; /* 0: never */
	uint64_t most;     /* the highest place that was asked for */
};

static bool give_bytes(void *self, uint64_t at, char *to, size_t len, size_t *ret_len,
		       struct err *err)
{
	struct given *given = self;

	if (given->fails_at && at >= given->fails_at)
		return err_set(err, ERR_IO, "the file became shorter");
	for (size_t i = 0; i < len; i++)
		to[i] = (char)((at + i) * 7 >> 3);
	given->most = at + len;
	*ret_len = len;
	return true;
}

/* The source gives more than its size only if it is asked for more. */
static bool give_within(void *self, uint64_t at, char *to, size_t len, size_t *ret_len,
			struct err *err)
{
	return give_bytes(self, at, to, LONG - at < len ? (size_t)(LONG - at) : len, ret_len, err);
}

static void puts_a_body_as_it_is_read(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct buf kept;
	struct fetch fetch = fetch_of(&arena, "/store/new", &kept);
	struct given given = { 0 };
	struct fetch_source source = { .size = LONG, .give = give_within, .self = &given };
	struct fetch_answer answer;
	struct err err;

	(void)state;
	assert_true(fetch_put(&fetch, &source, &answer, &err));
	assert_int_equal(answer.status, 201);
	assert_int_equal(answer.retry_after_s, 0);
	assert_true(str_eq(buf_bytes(&kept), STR("stored")));

	struct upload upload = upload_wait();

	assert_true(upload.is_whole);
	assert_int_equal(upload.bytes, LONG);
}

static void nothing_is_sent_of_what_is_refused_by_its_headers(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct buf kept;
	struct fetch fetch = fetch_of(&arena, "/store/have", &kept);
	struct given given = { 0 };
	struct fetch_source source = { .size = LONG, .give = give_within, .self = &given };
	struct fetch_answer answer;
	struct err err;

	(void)state;
	for (int i = 0; i < 3; i++) {
		kept.len = 0;
		assert_true(fetch_put(&fetch, &source, &answer, &err));
		assert_int_equal(answer.status, 409);
		assert_int_equal(answer.retry_after_s, 17);
		assert_int_equal(given.most, 0);
		assert_true(str_eq(buf_bytes(&kept), STR("have it")));
	}
}

static void what_the_source_cannot_give_breaks_the_upload_off(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct buf kept;
	struct fetch fetch = fetch_of(&arena, "/store/new", &kept);
	struct given given = { .fails_at = LONG / 2 };
	struct fetch_source source = { .size = LONG, .give = give_within, .self = &given };
	struct fetch_answer answer;
	struct err err = { 0 };

	(void)state;
	assert_false(fetch_put(&fetch, &source, &answer, &err));
	assert_non_null(strstr(err.msg, "became shorter"));
	assert_false(upload_wait().is_whole);
	given.fails_at = 0;
	assert_true(fetch_put(&fetch, &source, &answer, &err));
	assert_int_equal(answer.status, 201);
	assert_true(upload_wait().is_whole);
}

static void other_schemes_are_refused(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gives_the_body_away_in_pieces),
		TEST(a_path_and_a_header_come_as_they_were_given),
		TEST(redirections_are_followed_and_have_an_end),
		TEST(a_refusal_is_its_status_alone),
		TEST(a_body_that_is_too_long_or_not_wanted_is_an_error),
		TEST(silence_ends_by_the_clock_or_by_a_stop),
		TEST(posts_a_body_and_keeps_the_answer_whatever_its_status),
		TEST(posts_to_a_server_that_was_started_anew),
		TEST(puts_a_body_as_it_is_read),
		TEST(nothing_is_sent_of_what_is_refused_by_its_headers),
		TEST(what_the_source_cannot_give_breaks_the_upload_off),
		TEST(other_schemes_are_refused),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
