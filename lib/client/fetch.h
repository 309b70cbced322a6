// SPDX-License-Identifier: Apache-2.0
/*
 * fetch - an HTTP(S) client (libcurl): GET, POST and PUT; the response body arrives in pieces.
 *
 * The size of the response body, the total time, the time without progress and the number of
 * redirects are limited. on_body() receives each piece of the body: for a GET only if the status is
 * 200; for a POST or PUT whatever the status, because the body explains an error. A host name with
 * several addresses is resolved again every 5 s, and one address is chosen at random.
 *
 * All functions block, may be called from any thread, and fail with ERR_CANCELLED within about a
 * second after `cancel` is cancelled. The struct and its strings are borrowed during the call.
 *
 *     struct fetch fetch = { .url = url, .timeout_ms = 60000, .stall_ms = 20000,
 *                            .body_max = 1 << 20, .on_body = keep, .self = &kept };
 *     if (fetch_get(&fetch, &status, err) && status == 404) ...
 */
#pragma once

#include "base/buf.h"
#include "base/cancel.h"

struct fetch {
	const char *url;
	const char *const *headers; /* "Name: value" */
	size_t header_count;
	uint64_t timeout_ms, stall_ms; /* total; without a byte in either direction */
	uint64_t body_max;             /* bytes of a response body; more: ERR_LIMIT */
	bool (*on_body)(void *self, str piece, struct err *err); /* false: abort with its error */
	const struct cancel *cancel;                             /* NULL: not cancellable */
	void *self;                                              /* passed to on_body() */
};

/*
 * ERR_IO: no response, or an incomplete one. ERR_TIMEOUT: timeout_ms passed. ERR_CANCELLED:
 * `cancel` was cancelled. ERR_LIMIT: the body is longer than body_max. ERR_INVALID: not an HTTP(S)
 * URL. If on_body() fails, its error. A response with an error status is a success: check
 * *ret_status.
 */
bool fetch_get(const struct fetch *fetch, int *ret_status, struct err *err) MUST_CHECK;

/* POST `body`; fails as fetch_get() does. The thread's connections are reused by its next POST or
 * PUT within a few seconds. */
bool fetch_post(const struct fetch *fetch, str body, int *ret_status, struct err *err) MUST_CHECK;

/* The body of a PUT. It is read while it is sent, and again from another offset after a redirect.
 */
struct fetch_source {
	uint64_t size;
	/* Copy 1 to len bytes from offset `at`. False: the upload is aborted with this error. */
	bool (*read)(void *self, uint64_t at, char *to, size_t len, size_t *ret_len,
		     struct err *err);
	void *self;
};

struct fetch_response {
	int status;
	uint64_t retry_after_s; /* the header Retry-After, seconds; 0: none */
};

/*
 * PUT with Expect: 100-continue, so that the body is not sent if the server rejects the headers.
 * Fails as fetch_get() does, and with the error of read(). Connections are reused as for POST.
 */
bool fetch_put(const struct fetch *fetch, const struct fetch_source *source,
	       struct fetch_response *ret_answer, struct err *err) MUST_CHECK;

/* An on_body() that appends the body to a struct buf, which is `self`. */
bool fetch_append(void *self, str piece, struct err *err);
