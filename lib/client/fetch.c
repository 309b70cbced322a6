// SPDX-License-Identifier: Apache-2.0
#include "client/fetch.h"

#include "base/clock.h"
#include "base/liveness.h"
#include "client/shown_url.h"

#include <curl/curl.h>
#include <pthread.h>

enum { CONNECT_SECONDS = 10, REDIRECTS_MAX = 5, EXPECT_MS = 30000, ADDRESS_SECONDS = 5 };

DEFINE_CLEANUP(CURL *, curl_easy_cleanup)
DEFINE_CLEANUP(struct curl_slist *, curl_slist_free_all)

/* A request and its response. */
struct fetch_exchange {
	const struct fetch *fetch;
	CURL *curl;
	const str *body;                   /* of a POST; NULL: not a POST */
	const struct fetch_source *source; /* of a PUT; NULL: not a PUT */
	uint64_t received, sent;           /* bytes of the bodies */
	uint64_t retry_after_s;
	struct err err; /* of on_body(), read() or a limit */
};

/* Per thread: a handle for POST and PUT, which keeps its connections open. */
static pthread_key_t thread_handle;

static size_t on_piece(char *bytes, size_t size, size_t count, void *self)
{
	struct fetch_exchange *exchange = self;
	size_t len = size * count;
	long status = 0;

	curl_easy_getinfo(exchange->curl, CURLINFO_RESPONSE_CODE, &status);
	exchange->received += len;
	if (exchange->received > exchange->fetch->body_max) {
		err_set(&exchange->err, ERR_LIMIT, "the response is longer than %ju bytes",
			(uintmax_t)exchange->fetch->body_max);
		return 0;
	}
	if (status != 200 && !exchange->body && !exchange->source)
		return len; /* the body of an error response is discarded */
	return exchange->fetch->on_body(exchange->fetch->self, (str){ bytes, len }, &exchange->err)
		       ? len
		       : 0;
}

static size_t on_read(char *to, size_t size, size_t count, void *self)
{
	struct fetch_exchange *exchange = self;
	const struct fetch_source *source = exchange->source;
	size_t len = 0;

	if (exchange->sent >= source->size)
		return 0;
	if (!source->read(source->self, exchange->sent, to, size * count, &len, &exchange->err))
		return CURL_READFUNC_ABORT;
	exchange->sent += len;
	return len;
}

static int on_seek(void *self, curl_off_t offset, int origin)
{
	struct fetch_exchange *exchange = self;

	if (origin != SEEK_SET || offset < 0)
		return CURL_SEEKFUNC_CANTSEEK;
	exchange->sent = (uint64_t)offset;
	return CURL_SEEKFUNC_OK;
}

/* Called about once a second, also without progress. */
static int on_progress(void *self, curl_off_t total, curl_off_t now, curl_off_t up_total,
		       curl_off_t up_now)
{
	const struct fetch_exchange *exchange = self;

	(void)total, (void)now, (void)up_total, (void)up_now;
	liveness_advance();
	return cancel_requested(exchange->fetch->cancel);
}

static void init_library(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
	pthread_key_create(&thread_handle, curl_easy_cleanup);
}

static void init_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, init_library);
}

/*
 * A host name may stand for replicas that change. The order of its addresses is therefore random,
 * and addresses and connections are reused for a few seconds only. Otherwise all clients would keep
 * using one replica, because a resolver's order is fixed within a network.
 */
static void prepare_address(CURL *curl)
{
	curl_easy_setopt(curl, CURLOPT_DNS_SHUFFLE_ADDRESSES, 1L);
	curl_easy_setopt(curl, CURLOPT_DNS_CACHE_TIMEOUT, (long)ADDRESS_SECONDS);
	curl_easy_setopt(curl, CURLOPT_MAXLIFETIME_CONN, (long)ADDRESS_SECONDS);
}

static void prepare_post(const struct fetch_exchange *exchange)
{
	const str *body = exchange->body;

	curl_easy_setopt(exchange->curl, CURLOPT_POST, 1L);
	curl_easy_setopt(exchange->curl, CURLOPT_POSTFIELDS, body->len ? body->ptr : "");
	curl_easy_setopt(exchange->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->len);
	/* a redirected POST stays a POST */
	curl_easy_setopt(exchange->curl, CURLOPT_POSTREDIR, (long)CURL_REDIR_POST_ALL);
}

static void prepare_put(struct fetch_exchange *exchange)
{
	CURL *curl = exchange->curl;

	curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
	curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)exchange->source->size);
	curl_easy_setopt(curl, CURLOPT_READFUNCTION, on_read);
	curl_easy_setopt(curl, CURLOPT_READDATA, exchange);
	curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, on_seek);
	curl_easy_setopt(curl, CURLOPT_SEEKDATA, exchange);
	/* libcurl uses Expect: 100-continue with HTTP/1.1 only. */
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(curl, CURLOPT_EXPECT_100_TIMEOUT_MS, (long)EXPECT_MS);
}

/* False: not a URL that libcurl accepts. */
static bool prepare(struct fetch_exchange *exchange, struct curl_slist *headers, char *why)
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

/* Without a response. The caller's deadline and its token come first: libcurl's own limits, of a
 * connection attempt and of a stall, are failures of the server. */
static bool failed(const struct fetch *fetch, uint64_t began_ns, const char *why, struct err *err)
{
	/* libcurl counts in whole milliseconds, so its timeout may come a little early. */
	enum { EARLY_NS = 2 * NS_PER_MS };
	AUTO_ARENA arena = { 0 };
	enum err_code code = ERR_IO;

	if (cancel_requested(fetch->cancel))
		code = ERR_CANCELLED;
	else if (clock_monotonic_ns() - began_ns + EARLY_NS >= fetch->timeout_ms * NS_PER_MS)
		code = ERR_TIMEOUT;
	return err_set(err, code, STR_FMT ": %s", STR_ARG(shown_url(str_from(fetch->url), &arena)),
		       why);
}

/* Run one request on the exchange's handle. */
static bool run(struct fetch_exchange *exchange, int *ret_status, struct err *err)
{
	const struct fetch *fetch = exchange->fetch;
	CLEANUP(curl_slist_free_allp) struct curl_slist *headers = NULL;
	AUTO_ARENA arena = { 0 };
	char why[CURL_ERROR_SIZE] = "";
	curl_off_t retry_after_s = 0;
	long status = 0;

	for (size_t i = 0; i < fetch->header_count; i++)
		if (!add_header(&headers, fetch->headers[i], err))
			return false;
	/* Otherwise libcurl sends Expect: 100-continue before a long body, and waits for a second
	 * if the server does not support it. */
	if (exchange->body && !add_header(&headers, "Expect:", err))
		return false;
	/* By default libcurl sends it only for bodies above a megabyte. */
	if (exchange->source && !add_header(&headers, "Expect: 100-continue", err))
		return false;
	if (!exchange->curl)
		return err_set(err, ERR_IO, "libcurl has no memory for a request");
	if (!prepare(exchange, headers, why))
		return err_set(err, ERR_INVALID, STR_FMT " is not an HTTP or HTTPS URL",
			       STR_ARG(shown_url(str_from(fetch->url), &arena)));

	uint64_t began_ns = clock_monotonic_ns();
	CURLcode done = curl_easy_perform(exchange->curl);

	curl_easy_getinfo(exchange->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(exchange->curl, CURLINFO_RETRY_AFTER, &retry_after_s);
	exchange->retry_after_s = retry_after_s > 0 ? (uint64_t)retry_after_s : 0;
	curl_easy_reset(
		exchange->curl); /* the handle may outlive the memory that its options point to */
	if (exchange->err.code != ERR_NONE) {
		*err = exchange->err;
		return err_wrap(err, STR_FMT, STR_ARG(shown_url(str_from(fetch->url), &arena)));
	}
	if (done != CURLE_OK)
		return failed(fetch, began_ns, *why ? why : curl_easy_strerror(done), err);
	*ret_status = (int)status;
	return true;
}

bool fetch_get(const struct fetch *fetch, int *ret_status, struct err *err)
{
	init_once();

	CLEANUP(curl_easy_cleanupp) CURL *curl = curl_easy_init();
	struct fetch_exchange exchange = { .fetch = fetch, .curl = curl };

	return run(&exchange, ret_status, err);
}

static CURL *handle_of_thread(void)
{
	init_once();

	CURL *curl = pthread_getspecific(thread_handle);

	if (!curl) {
		curl = curl_easy_init();
		pthread_setspecific(thread_handle, curl);
	}
	return curl;
}

bool fetch_post(const struct fetch *fetch, str body, int *ret_status, struct err *err)
{
	struct fetch_exchange exchange = { .fetch = fetch,
					   .curl = handle_of_thread(),
					   .body = &body };

	return run(&exchange, ret_status, err);
}

bool fetch_put(const struct fetch *fetch, const struct fetch_source *source,
	       struct fetch_response *ret_answer, struct err *err)
{
	struct fetch_exchange exchange = { .fetch = fetch,
					   .curl = handle_of_thread(),
					   .source = source };
	struct fetch_response answer;

	if (!run(&exchange, &answer.status, err))
		return false;
	answer.retry_after_s = exchange.retry_after_s;
	*ret_answer = answer;
	return true;
}

bool fetch_append(void *self, str piece, struct err *err)
{
	(void)err;
	buf_str(self, piece);
	return true;
}
