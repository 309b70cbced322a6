// SPDX-License-Identifier: Apache-2.0
/*
 * serve - GET /buildid/...: what debuginfod clients ask for, from the store or through upstream.
 *
 * A debug file that holds the program's code too (an unstripped binary that was uploaded) answers
 * for the executable. A held file without DWARF is asked for upstream as well, since a better one
 * may be there. Sections are pieces of held files, as they stand in them. Sources come from
 * upstream.
 */
#pragma once

#include "chassis/http.h"
#include "upstream.h"

struct handler_buildid {
	struct files *files;
	struct upstream *upstream;
};

/* An http_handler; the route ends at /buildid/. */
void handler_buildid(void *service, const struct http_request *req, struct http_response *res);

enum { HANDLER_BUILDID_METRICS = 2 };
extern struct metric *const handler_buildid_metrics[HANDLER_BUILDID_METRICS];
