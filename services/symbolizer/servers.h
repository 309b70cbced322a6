// SPDX-License-Identifier: Apache-2.0
/*
 * servers - the debuginfod servers of --debuginfod-urls, in the order in which they are asked.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "symbolizer_limits.h"

struct servers {
	size_t count;
	const char *urls[SERVERS_MAX]; /* without a slash at the end */
	/* private */
	struct arena arena;
};

/* URLs, separated by spaces or commas. ERR_INVALID: no such list. */
bool servers_parse(struct servers *servers, const char *text, struct err *err) MUST_CHECK;
void servers_done(struct servers *servers);
