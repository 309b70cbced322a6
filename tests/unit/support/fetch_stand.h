// SPDX-License-Identifier: Apache-2.0
/*
 * fetch_stand - helpers for tests that fetch from an HTTP server in the same process.
 *
 *     struct fetch fetch = fetch_of(&arena, "/long", &kept);
 */
#pragma once

#include "base/buf.h"
#include "client/fetch.h"
#include "support/own_server.h"

enum { LONG = 300000 };

static inline bool keep(void *self, str piece, struct err *err)
{
	struct buf *kept = self;

	buf_str(kept, piece);
	return kept->len < 1000000 || err_set(err, ERR_LIMIT, "never");
}

/* The response body is appended to `kept`. */
static inline struct fetch fetch_of(struct arena *arena, const char *path, struct buf *kept)
{
	*kept = (struct buf){ .arena = arena };
	return (struct fetch){
		.url = str_z(arena, str_format(arena, "http://127.0.0.1:%u%s",
					       (unsigned int)server.port, path)),
		.timeout_ms = 20000,
		.stall_ms = 20000,
		.body_max = LONG,
		.on_body = keep,
		.self = kept,
	};
}
