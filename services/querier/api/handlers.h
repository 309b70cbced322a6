// SPDX-License-Identifier: Apache-2.0
/*
 * handlers - the handlers of the API's endpoints, for the table of routes in api.c.
 *
 * Each handler is defined in a handler_*.c, which contains one kind of endpoint. A handler writes a
 * response in any case, errors included. `self` is the struct api. Any thread.
 */
#pragma once

#include "server/http/http.h"

http_handler handle_labels, handle_label_values, handle_profile_types, handle_series;
http_handler handle_query, handle_query_range, handle_diff, handle_fleet;
http_handler handle_share, handle_shared, handle_link;

/* Of handler_share.c. */
enum { SHARE_METRICS = 2 };
extern struct metric *const share_metrics[SHARE_METRICS];
