#include "fetch.h"

#include <curl/curl.h>
#include <pthread.h>

enum { CONNECT_SECONDS = 10, REDIRECTS_MAX = 5 };

DEFINE_CLEANUP(CURL *, curl_easy_cleanup)
DEFINE_CLEANUP(struct curl_slist *, curl_slist_free_all)

struct exchange {
	const struct fetch *fetch;
	CURL *curl;
	const str *body; /* that is sent; NULL: a GET */
	uint64_t taken;
	struct err err; /* why a piece was not taken */
};

/* A thread's handle for POST, which keeps its connections. */
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
	if (status != 200 && !exchange->body)
		return len; /* what a refusal says is not kept */
	return exchange->fetch->take(exchange->fetch->self, (str){ bytes, len }, &exchange->err)
		       ? len
		       : 0;
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
	if (exchange->body) {
		curl_easy_setopt(curl, CURLOPT_POST, 1L);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS,
				 exchange->body->len ? exchange->body->ptr : "");
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
				 (curl_off_t)exchange->body->len);
		/* a redirected POST stays one */
		curl_easy_setopt(curl, CURLOPT_POSTREDIR, (long)CURL_REDIR_POST_ALL);
	}
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
	long status = 0;

	for (size_t i = 0; i < fetch->header_count; i++)
		if (!add_header(&headers, fetch->headers[i], err))
			return false;
	/* Or libcurl asks before it sends a long body, and waits a second for who does not know. */
	if (exchange->body && !add_header(&headers, "Expect:", err))
		return false;
	if (!exchange->curl || !prepare(exchange, headers, why))
		return err_set(err, ERR_INVALID, "%s is no address to fetch from", fetch->url);

	CURLcode done = curl_easy_perform(exchange->curl);

	curl_easy_getinfo(exchange->curl, CURLINFO_RESPONSE_CODE, &status);
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

bool fetch_post(const struct fetch *fetch, str body, int *ret_status, struct err *err)
{
	begin_once();

	CURL *curl = pthread_getspecific(kept_handle);

	if (!curl) {
		curl = curl_easy_init();
		pthread_setspecific(kept_handle, curl);
	}

	struct exchange exchange = { .fetch = fetch, .curl = curl, .body = &body };

	return run(&exchange, ret_status, err);
}

bool fetch_keep(void *self, str piece, struct err *err)
{
	(void)err;
	buf_str(self, piece);
	return true;
}
