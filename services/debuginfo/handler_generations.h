// SPDX-License-Identifier: Apache-2.0
/*
 * handler_generations - POST /api/v1/generations: the stored generation of each debug file.
 *
 *     {"build_ids":["6f3c...","htlhash:..."]}
 *     -> {"status":"success","data":{"generations":{"6f3c...":1787479200123,"htlhash:...":0}}}
 *
 * 0: no debug file of that build id is stored. A symbolizer polls this to learn that a table it
 * built from a file is out of date. Any thread.
 */
#pragma once

#include "server/http/http.h"

/* An http_handler; the service is the struct files. */
void handler_generations(void *service, const struct http_request *req, struct http_response *res);

extern struct metric *const handler_generations_metrics[];
