// SPDX-License-Identifier: Apache-2.0
/*
 * handler_buildid - GET /buildid/...: serves debuginfod clients from the store or from upstream.
 *
 * - An uploaded debug file that also contains the program's code (an unstripped binary) is served
 *   as the executable, too.
 * - If the stored debug file has no DWARF, the upstream servers are queried for a better one.
 * - A section is a byte range of a stored file.
 * - Sources come from upstream.
 *
 * Any thread.
 */
#pragma once

#include "debuginfo/upstream.h"
#include "server/http/http.h"

struct handler_buildid {
	struct files *files;
	struct upstream *upstream;
};

/* An http_handler for the route /buildid/; the service is a struct handler_buildid. */
void handler_buildid(void *service, const struct http_request *req, struct http_response *res);

extern struct metric *const handler_buildid_metrics[];
