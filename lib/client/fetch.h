// SPDX-License-Identifier: Apache-2.0
/*
 * fetch - GET, POST and PUT over HTTP or HTTPS, the answer's body given away piece by piece.
 *
 * Everything has a bound: the body, the time of the whole, the time without a byte, redirections. A
 * body is given to take() only if the status is 200; other answers to a GET are their status alone.
 * A POST's or a PUT's is given whatever the status, since it says why. A name that stands for
 * several addresses is looked up every few seconds, and any of them is asked.
 *
 *     struct fetch fetch = { .url = url, .timeout_ms = 60000, .stall_ms = 20000,
 *                            .body_max = 1 << 20, .take = keep, .self = &kept };
 *     if (fetch_get(&fetch, &status, err) && status == 404) ...
 */
#pragma once

#include "base/buf.h"
#include "base/stop.h"

struct fetch {
	const char *url;
	const char *const *headers; /* "Name: value" */
	size_t header_count;
	uint64_t timeout_ms, stall_ms; /* of the whole; without a byte */
	uint64_t body_max;             /* more: ERR_LIMIT */
	bool (*take)(void *self, str piece, struct err *err);
	const struct stop *stop; /* NULL: nobody stops it */
	void *self;
};

/* False: no answer, or not a whole one (ERR_IO), one too long (ERR_LIMIT), or what take() said. */
bool fetch_get(const struct fetch *fetch, int *ret_status, struct err *err) MUST_CHECK;

/* The same. A thread's connections are kept for its next POST, for a few seconds. */
bool fetch_post(const struct fetch *fetch, str body, int *ret_status, struct err *err) MUST_CHECK;

/* What a PUT sends. It is read as it is sent, and again from elsewhere after a redirection. */
struct fetch_source {
	uint64_t size;
	/* Up to len bytes from `at` on, at least one; false: the upload is broken off. */
	bool (*give)(void *self, uint64_t at, char *to, size_t len, size_t *ret_len,
		     struct err *err);
	void *self;
};

struct fetch_answer {
	int status;
	uint64_t retry_after_s; /* 0: it does not say */
};

/*
 * PUT: the server is asked first whether it wants it (Expect: 100-continue), so what it refuses by
 * the headers is not sent. False also with what give() said. Connections are kept as POST's.
 */
bool fetch_put(const struct fetch *fetch, const struct fetch_source *source,
	       struct fetch_answer *ret_answer, struct err *err) MUST_CHECK;

/* A take() that keeps the body in a struct buf, which is self. */
bool fetch_keep(void *self, str piece, struct err *err);
