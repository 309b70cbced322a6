// SPDX-License-Identifier: Apache-2.0
/*
 * symbolizer_client - a symbol_source that sends POST /symbolize to a decima-symbolizer. Any
 * thread.
 */
#pragma once

#include "querier/symbolize/symbol_source_internal.h"

struct symbolizer_client {
	/* private */
	const char *url; /* --symbolizer-url; borrowed */
};

/*
 * Initialises the client and returns its source; opens no connection and cannot fail. url:
 * "http://host:7073", optionally with a path before /symbolize. `client` and `url` must outlive the
 * source. If url is empty, query() of the source is NULL. query() fails with ERR_IO if the server
 * is unreachable or returns an error, with ERR_INVALID if the response is malformed, and with the
 * error of store_bounds_check() if the bounds ended.
 */
struct symbol_source symbolizer_client_source(struct symbolizer_client *client, const char *url);
