// SPDX-License-Identifier: Apache-2.0
/*
 * symbolizer - the source of names that is a decima-symbolizer: POST /symbolize. Any thread.
 */
#pragma once

#include "symbol_source.h"

struct symbolizer_client {
	/* private */
	const char *url; /* --symbolizer-url */
};

/* url: "http://host:7073", with a path in front of /symbolize or without. It must outlive this. */
struct symbol_source symbolizer_client_source(struct symbolizer_client *client, const char *url);
