// SPDX-License-Identifier: Apache-2.0
/*
 * http_body - the collected body of a request.
 *
 * The memory of all bodies of a process is bounded by HTTP_BODIES_MAX, because many clients can
 * send large bodies slowly. Bodies of at most HTTP_BODY_SMALL do not count, so that they are
 * received even then. A body belongs to one thread.
 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* A zeroed struct is an empty body. */
struct http_body {
	char *ptr; /* heap memory */
	size_t len;
	size_t cap; /* private */
};

/* Appends a piece. False: the bodies of all requests would take more than HTTP_BODIES_MAX, which is
 * counted; the body is freed. */
bool http_body_add(struct http_body *body, str piece);

/* The body is empty afterwards. */
void http_body_free(struct http_body *body);

/* The bytes of all bodies that count now, for the metric. Any thread. */
uint64_t http_bodies(void);
