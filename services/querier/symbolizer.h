// SPDX-License-Identifier: Apache-2.0
/*
 * symbolizer - the source of names that is a decima-symbolizer: POST /symbolize. Any thread.
 */
#pragma once

#include "name_source.h"

struct symbolizer {
	/* private */
	const char *url; /* --symbolizer-url */
};

/* url: "http://host:7073", with a path in front of /symbolize or without. It must outlive this. */
struct name_source symbolizer_source(struct symbolizer *symbolizer, const char *url);
