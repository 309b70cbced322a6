/*
 * fetch - GET over HTTP or HTTPS, the body given away piece by piece.
 *
 * Everything has a bound: the body, the time of the whole, the time without a byte, redirections. A
 * body is given to take() only if the status is 200; other answers are their status alone.
 *
 *     struct fetch fetch = { .url = url, .timeout_ms = 60000, .stall_ms = 20000,
 *                            .body_max = 1 << 20, .take = keep, .self = &kept };
 *     if (fetch_get(&fetch, &status, err) && status == 404) ...
 */
#pragma once

#include "base/stop.h"
#include "base/str.h"

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
