// SPDX-License-Identifier: Apache-2.0
/*
 * handlers - the endpoints of /api/v1, for the table of routes: each handler_*.c holds one kind.
 */
#pragma once

#include "chassis/http.h"

http_handler handle_labels, handle_label_values, handle_profile_types, handle_series;
http_handler handle_query, handle_query_range, handle_diff, handle_fleet;
http_handler handle_share, handle_shared, handle_link;

/* Of handler_share.c. */
enum { SHARE_METRICS = 2 };
extern struct metric *const share_metrics[SHARE_METRICS];
