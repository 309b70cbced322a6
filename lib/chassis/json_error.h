// SPDX-License-Identifier: Apache-2.0
/*
 * json_error - how every service's API refuses: as Prometheus' HTTP API does.
 */
#pragma once

#include "chassis/http.h"

/*
 * {"status":"error","errorType":type,"error":sentence} as the body. The arena is the request's; the
 * status is the caller's to set.
 */
void json_error(struct arena *arena, const char *type, const char *sentence,
		struct http_response *res);
