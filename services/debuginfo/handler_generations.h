// SPDX-License-Identifier: Apache-2.0
/*
 * generations - POST /api/v1/generations: which generation of each debug file is held.
 *
 *     {"build_ids":["6f3c...","htlhash:..."]}
 *     -> {"status":"success","data":{"generations":{"6f3c...":1787479200123,"htlhash:...":0}}}
 *
 * 0: none is held. It is how a symbolizer learns that what it made of a file is out of date.
 */
#pragma once

#include "chassis/http.h"

/* An http_handler; the service is the struct files. */
void handler_generations(void *service, const struct http_request *req, struct http_response *res);

enum { HANDLER_GENERATIONS_METRICS = 1 };
extern struct metric *const handler_generations_metrics[HANDLER_GENERATIONS_METRICS];
