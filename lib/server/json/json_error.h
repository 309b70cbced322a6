// SPDX-License-Identifier: Apache-2.0
/*
 * json_error - the error body of every service's API, in the format of Prometheus' HTTP API.
 */
#pragma once

#include "server/http/http.h"

/*
 * Set the body {"status":"error","errorType":type,"error":sentence} and its content type. The body
 * is allocated in `arena`, the request's. The caller sets res->status.
 */
void json_error(struct arena *arena, const char *type, const char *sentence,
		struct http_response *res);
