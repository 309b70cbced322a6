/*
 * fetch - GET and POST over HTTP or HTTPS, the answer's body given away piece by piece.
 *
 * Everything has a bound: the body, the time of the whole, the time without a byte, redirections. A
 * body is given to take() only if the status is 200; other answers to a GET are their status alone.
 * A POST's is given whatever the status, since it says why.
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

/* The same. A thread's connections are kept for its next POST, until the thread ends. */
bool fetch_post(const struct fetch *fetch, str body, int *ret_status, struct err *err) MUST_CHECK;

/* A take() that keeps the body in a struct buf, which is self. */
bool fetch_keep(void *self, str piece, struct err *err);
