// SPDX-License-Identifier: Apache-2.0
/*
 * Requests with a body: POST, and PUT of a source that is read while it is sent.
 */
#include "support/fetch_stand.h"

#include <pthread.h>

static void echo(void *service, const struct http_request *req, struct http_response *res)
{
	bool is_refused = str_eq(req->body, STR("refuse"));

	(void)service;
	res->status = is_refused ? 422 : 200;
	res->body = is_refused ? STR("refused") : str_copy(req->arena, req->body);
}

/* A PUT below /store/. Each has its own, because an aborted one may still be in progress when the
 * next one arrives. */
struct upload {
	uint64_t bytes;
	bool is_whole;
};

/* The number of uploads that ended, and the last one. */
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
					  .on_piece = store_take,
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
};

static void posts_a_body_and_keeps_the_response_whatever_its_status(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct buf kept;
	struct fetch fetch = fetch_of(&arena, "/echo", &kept);
	char *bytes = arena_array(&arena, char, 3 << 20);
	int status = 0;
	struct err err;

	(void)state;
	fetch.on_body = fetch_append;
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

static void posts_to_a_restarted_server(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct http_options options = { .routes = routes, .route_count = ARRAY_LEN(routes) };
	struct http_server other;
	struct buf kept = { .arena = &arena };
	struct fetch fetch = { .timeout_ms = 20000,
			       .stall_ms = 20000,
			       .body_max = 100,
			       .on_body = fetch_append,
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
	uint64_t most;     /* the highest offset that was read */
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

/* Fails if it is read beyond its size. */
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
	struct fetch_source source = { .size = LONG, .read = give_within, .self = &given };
	struct fetch_response answer;
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

static void the_body_is_not_sent_if_the_headers_are_rejected(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct buf kept;
	struct fetch fetch = fetch_of(&arena, "/store/have", &kept);
	struct given given = { 0 };
	struct fetch_source source = { .size = LONG, .read = give_within, .self = &given };
	struct fetch_response answer;
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

static void an_error_of_the_source_aborts_the_upload(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct buf kept;
	struct fetch fetch = fetch_of(&arena, "/store/new", &kept);
	struct given given = { .fails_at = LONG / 2 };
	struct fetch_source source = { .size = LONG, .read = give_within, .self = &given };
	struct fetch_response answer;
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

RUN_WITH_SERVER(&(struct http_options){ OWN_ROUTES(routes) },
		TEST(posts_a_body_and_keeps_the_response_whatever_its_status),
		TEST(posts_to_a_restarted_server), TEST(puts_a_body_as_it_is_read),
		TEST(the_body_is_not_sent_if_the_headers_are_rejected),
		TEST(an_error_of_the_source_aborts_the_upload))
