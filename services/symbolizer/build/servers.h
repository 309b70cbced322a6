// SPDX-License-Identifier: Apache-2.0
/*
 * servers - the debuginfod servers of --debuginfod-urls, in the order in which they are queried.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "symbolizer/symbolizer_limits.h"

struct servers {
	size_t count;
	const char *urls[SERVERS_MAX]; /* without a trailing slash; valid until servers_done() */
	/* private */
	struct arena arena;
};

/* `text` has URLs, separated by spaces or commas. ERR_INVALID: not an http:// or https:// URL.
 * ERR_LIMIT: more than SERVERS_MAX. */
bool servers_parse(struct servers *servers, const char *text, struct err *err) MUST_CHECK;
void servers_done(struct servers *servers);
