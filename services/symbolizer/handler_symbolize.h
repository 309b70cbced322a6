// SPDX-License-Identifier: Apache-2.0
/*
 * answer - POST /symbolize, in protobuf between services, in JSON for people and tests.
 *
 *     {"requests":[{"build_id":"6f3c...","addresses":[4198694]}]}
 *     -> {"responses":[{"generation":1787479200123,"locations":[{"lines":[{"function":"f(int)",
 *        "system_name":"_Z1fi","file":"/src/a.c","line":12,"start_line":10}]}]}]}
 *
 * An address of which nothing is known has no lines and a "reason". `?timeout=500ms` bounds the
 * time of one answer, below --symbolize-timeout.
 */
#pragma once

#include "chassis/http.h"
#include "resolver.h"

/* An http_handler; the service is the struct resolver. */
void handler_symbolize(void *service, const struct http_request *req, struct http_response *res);

/* For what no handler saw (http_refuse). */
void handler_symbolize_unhandled(void *service, const struct http_request *req, const char *why,
				 struct http_response *res);
