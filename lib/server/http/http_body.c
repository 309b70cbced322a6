// SPDX-License-Identifier: Apache-2.0
#include "base/heap.h"
#include "server/http/http_body_internal.h"
#include "server/http/http_metrics_internal.h"
#include "server/limits.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 1024 };

static _Atomic uint64_t all; /* bytes of all bodies that count */

uint64_t http_bodies(void)
{
	return atomic_load(&all);
}

static size_t counted(size_t cap)
{
	return cap > HTTP_BODY_SMALL ? cap : 0;
}

/* False: there is no room for it. */
static bool count(size_t before, size_t after)
{
	uint64_t more = counted(after) - counted(before);

	if (atomic_fetch_add(&all, more) + more > HTTP_BODIES_MAX) {
		atomic_fetch_sub(&all, more);
		return false;
	}
	return true;
}

bool http_body_add(struct http_body *body, str piece)
{
	size_t cap = body->cap ? body->cap : FIRST_BYTES;

	while (piece.len > cap - body->len)
		cap *= 2; /* the largest body of a route is far below */
	if (!count(body->cap, cap)) {
		metric_add(&http_bodies_refused_total, 1);
		http_body_free(body);
		return false;
	}
	if (cap != body->cap)
		body->ptr = heap_resize(body->ptr, cap, 1);
	body->cap = cap;
	if (piece.len)
		memcpy(body->ptr + body->len, piece.ptr, piece.len);
	body->len += piece.len;
	return true;
}

void http_body_free(struct http_body *body)
{
	free(body->ptr);
	atomic_fetch_sub(&all, counted(body->cap));
	*body = (struct http_body){ 0 };
}
