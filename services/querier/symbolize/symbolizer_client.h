// SPDX-License-Identifier: Apache-2.0
/*
 * symbolizer_client - a symbol_source that sends POST /symbolize to a decima-symbolizer. Any
 * thread.
 */
#pragma once

#include "querier/symbolize/symbol_source_internal.h"

struct symbolizer_client {
	/* private */
	const char *url; /* --symbolizer-url */
};

/* url: "http://host:7073", optionally with a path before /symbolize; it must outlive the client.
 * Empty: the source's query() is NULL. query() fails with ERR_IO if the server is unreachable or
 * returns an error, ERR_INVALID if its response is malformed. */
struct symbol_source symbolizer_client_source(struct symbolizer_client *client, const char *url);
