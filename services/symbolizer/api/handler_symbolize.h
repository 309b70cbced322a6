// SPDX-License-Identifier: Apache-2.0
/*
 * handler_symbolize - POST /symbolize, in protobuf between services, in JSON for people and tests.
 *
 *     {"requests":[{"build_id":"6f3c...","addresses":[4198694]}]}
 *     -> {"responses":[{"generation":1787479200123,"locations":[{"lines":[{"function":"f(int)",
 *        "system_name":"_Z1fi","file":"/src/a.c","line":12,"start_line":10}]}]}]}
 *
 * An address that cannot be symbolized has no lines and a "reason". The query parameter
 * `?timeout=500ms` shortens the timeout of one request; --symbolize-timeout is the maximum.
 * Any thread.
 */
#pragma once

#include "server/http/http.h"
#include "symbolizer/api/resolver.h"

/* An http_handler; the service is the struct resolver. */
void handler_symbolize(void *service, const struct http_request *req, struct http_response *res);
