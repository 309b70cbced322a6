// SPDX-License-Identifier: Apache-2.0
/*
 * servers - the debuginfod servers of --debuginfod-urls, in the order in which they are queried.
 * One thread parses; any thread may read.
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

/* `text` has URLs, separated by spaces, tabs, newlines or commas; it is copied and may be empty.
 * ERR_INVALID: not an http:// or https:// URL. ERR_LIMIT: more than SERVERS_MAX. After a failure
 * there are no servers and there is nothing to free. */
bool servers_parse(struct servers *servers, const char *text, struct err *err) MUST_CHECK;

/* Frees the URLs. Accepts a zeroed struct. */
void servers_done(struct servers *servers);
