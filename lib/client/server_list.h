// SPDX-License-Identifier: Apache-2.0
/*
 * server_list - the debuginfod servers of a setting, in the order in which they are queried.
 *
 * One thread parses; any thread may read.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "client/client_limits.h"

/* Texts are valid until server_list_done(). */
struct server_list {
	size_t count;
	const char *urls[SERVERS_MAX]; /* without a slash at the end */
	str shown[SERVERS_MAX];        /* for logs: without user and password */
	/* private */
	struct arena arena;
};

/* `text` has URLs, separated by spaces, tabs, newlines or commas; it is copied and may be empty.
 * ERR_INVALID: not an http:// or https:// URL. ERR_LIMIT: more than SERVERS_MAX. After a failure
 * there are no servers and there is nothing to free. */
bool server_list_parse(struct server_list *list, const char *text, struct err *err) MUST_CHECK;

/* Frees the URLs. Accepts a zeroed struct. */
void server_list_done(struct server_list *list);
