// SPDX-License-Identifier: Apache-2.0
#include "fetch.h"

#include <curl/curl.h>
#include <pthread.h>

enum { CONNECT_SECONDS = 10, REDIRECTS_MAX = 5, EXPECT_MS = 30000, ADDRESS_SECONDS = 5 };

DEFINE_CLEANUP(CURL *, curl_easy_cleanup)
DEFINE_CLEANUP(struct curl_slist *, curl_slist_free_all)

struct exchange {
	const struct fetch *fetch;
	CURL *curl;
	const str *body;                   /* that is POSTed; NULL: none */
	const struct fetch_source *source; /* of what is PUT; NULL: nothing */
	uint64_t taken, given;
	uint64_t retry_after_s;
	struct err err; /* why a piece was not taken, or not given */
};

/* A thread's handle for POST and PUT, which keeps its connections. */
static pthread_key_t kept_handle;

static size_t on_piece(char *bytes, size_t size, size_t count, void *self)
{
	struct exchange *exchange = self;
	size_t len = size * count;
	long status = 0;

	curl_easy_getinfo(exchange->curl, CURLINFO_RESPONSE_CODE, &status);
	exchange->taken += len;
	if (exchange->taken > exchange->fetch->body_max) {
		err_set(&exchange->err, ERR_LIMIT, "the answer is longer than %ju bytes",
			(uintmax_t)exchange->fetch->body_max);
		return 0;
	}
	if (status != 200 && !exchange->body && !exchange->source)
		return len; /* what a refusal says is not kept */
	return exchange->fetch->take(exchange->fetch->self, (str){ bytes, len }, &exchange->err)
		       ? len
		       : 0;
}

static size_t on_room(char *to, size_t size, size_t count, void *self)
{
	struct exchange *exchange = self;
	const struct fetch_source *source = exchange->source;
	size_t len = 0;

	if (exchange->given >= source->size)
		return 0;
	if (!source->give(source->self, exchange->given, to, size * count, &len, &exchange->err))
		return CURL_READFUNC_ABORT;
	exchange->given += len;
	return len;
}

static int on_seek(void *self, curl_off_t offset, int origin)
{
	struct exchange *exchange = self;

	if (origin != SEEK_SET || offset < 0)
		return CURL_SEEKFUNC_CANTSEEK;
	exchange->given = (uint64_t)offset;
	return CURL_SEEKFUNC_OK;
}

/* Called about once a second, also when nothing moves. */
static int on_progress(void *self, curl_off_t total, curl_off_t now, curl_off_t up_total,
		       curl_off_t up_now)
{
	const struct exchange *exchange = self;

	(void)total, (void)now, (void)up_total, (void)up_now;
	return stop_is_asked(exchange->fetch->stop);
}

static void begin_library(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
	pthread_key_create(&kept_handle, curl_easy_cleanup);
}

static void begin_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, begin_library);
}

/*
 * A name may stand for replicas, which come and go: the order of its addresses is left to chance,
 * and both addresses and connections are believed for a moment only. Or the resolver's order, which
 * is a fixed one within a network, would have all of us ask the same replica for ever.
 */
static void prepare_address(CURL *curl)
{
	curl_easy_setopt(curl, CURLOPT_DNS_SHUFFLE_ADDRESSES, 1L);
	curl_easy_setopt(curl, CURLOPT_DNS_CACHE_TIMEOUT, (long)ADDRESS_SECONDS);
	curl_easy_setopt(curl, CURLOPT_MAXLIFETIME_CONN, (long)ADDRESS_SECONDS);
}

static void prepare_post(const struct exchange *exchange)
{
	const str *body = exchange->body;

	curl_easy_setopt(exchange->curl, CURLOPT_POST, 1L);
	curl_easy_setopt(exchange->curl, CURLOPT_POSTFIELDS, body->len ? body->ptr : "");
	curl_easy_setopt(exchange->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len);
	/* a redirected POST stays one */
	curl_easy_setopt(exchange->curl, CURLOPT_POSTREDIR, (long)CURL_REDIR_POST_ALL);
}

static void prepare_put(struct exchange *exchange)
{
	CURL *curl = exchange->curl;

	curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)exchange->source->size);
	curl_easy_setopt(curl, CURLOPT_READFUNCTION, on_room);
	curl_easy_setopt(curl, CURLOPT_READDATA, exchange);
	curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, on_seek);
	curl_easy_setopt(curl, CURLOPT_SEEKDATA, exchange);
	/* HTTP/2 has no such question. */
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(curl, CURLOPT_EXPECT_100_TIMEOUT_MS, (long)EXPECT_MS);
}

/* False: not an address that this library takes. */
static bool prepare(struct exchange *exchange, struct curl_slist *headers, char *why)
{
	const struct fetch *fetch = exchange->fetch;
	CURL *curl = exchange->curl;

	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
	curl_easy_setopt(curl, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
	curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L); /* a source's path may have ".." in it */
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)fetch->timeout_ms);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)((fetch->stall_ms + 999) / 1000));
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "decima/" DECIMA_VERSION);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_piece);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, exchange);
	curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(curl, CURLOPT_XFERINFODATA, exchange);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	prepare_address(curl);
	if (exchange->body)
		prepare_post(exchange);
	if (exchange->source)
		prepare_put(exchange);
	return curl_easy_setopt(curl, CURLOPT_URL, fetch->url) == CURLE_OK;
}

static bool add_header(struct curl_slist **headers, const char *header, struct err *err)
{
	struct curl_slist *longer = curl_slist_append(*headers, header);

	if (!longer)
		return err_set(err, ERR_IO, "out of memory");
	*headers = longer;
	return true;
}

/* One request and its answer, over the exchange's handle. */
static bool run(struct exchange *exchange, int *ret_status, struct err *err)
{
	const struct fetch *fetch = exchange->fetch;
	CLEANUP(curl_slist_free_allp) struct curl_slist *headers = NULL;
	char why[CURL_ERROR_SIZE] = "";
	curl_off_t retry_after_s = 0;
	long status = 0;

	for (size_t i = 0; i < fetch->header_count; i++)
		if (!add_header(&headers, fetch->headers[i], err))
			return false;
	/* Or libcurl asks before it sends a long body, and waits a second for who does not know. */
	if (exchange->body && !add_header(&headers, "Expect:", err))
		return false;
	/* Of itself it asks for bodies above a megabyte alone. */
	if (exchange->source && !add_header(&headers, "Expect: 100-continue", err))
		return false;
	if (!exchange->curl || !prepare(exchange, headers, why))
		return err_set(err, ERR_INVALID, "%s is no address to fetch from", fetch->url);

	CURLcode done = curl_easy_perform(exchange->curl);

	curl_easy_getinfo(exchange->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(exchange->curl, CURLINFO_RETRY_AFTER, &retry_after_s);
	exchange->retry_after_s = retry_after_s > 0 ? (uint64_t)retry_after_s : 0;
	curl_easy_reset(exchange->curl); /* it may outlive what it was given, which is ours */
	if (exchange->err.code != ERR_NONE) {
		*err = exchange->err;
		return err_wrap(err, "%s", fetch->url);
	}
	if (done != CURLE_OK)
		return err_set(err, ERR_IO, "%s: %s", fetch->url,
			       *why ? why : curl_easy_strerror(done));
	*ret_status = (int)status;
	return true;
}

bool fetch_get(const struct fetch *fetch, int *ret_status, struct err *err)
{
	begin_once();

	CLEANUP(curl_easy_cleanupp) CURL *curl = curl_easy_init();
	struct exchange exchange = { .fetch = fetch, .curl = curl };

	return run(&exchange, ret_status, err);
}

static CURL *handle_of_thread(void)
{
	begin_once();

	CURL *curl = pthread_getspecific(kept_handle);

	if (!curl) {
		curl = curl_easy_init();
		pthread_setspecific(kept_handle, curl);
	}
	return curl;
}

bool fetch_post(const struct fetch *fetch, str body, int *ret_status, struct err *err)
{
	struct exchange exchange = { .fetch = fetch, .curl = handle_of_thread(), .body = &body };

	return run(&exchange, ret_status, err);
}

bool fetch_put(const struct fetch *fetch, const struct fetch_source *source,
	       struct fetch_answer *ret_answer, struct err *err)
{
	struct exchange exchange = { .fetch = fetch, .curl = handle_of_thread(), .source = source };
	struct fetch_answer answer;

	if (!run(&exchange, &answer.status, err))
		return false;
	answer.retry_after_s = exchange.retry_after_s;
	*ret_answer = answer;
	return true;
}

bool fetch_keep(void *self, str piece, struct err *err)
{
	(void)err;
	buf_str(self, piece);
	return true;
}
