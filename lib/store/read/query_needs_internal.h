// SPDX-License-Identifier: Apache-2.0
/*
 * query_needs - what the sample reader must read for a query, by its level. No I/O, any thread.
 */
#pragma once

#include "store/read/store_query.h"

/* What a query needs: the row of its level, limited by the type and the steps. */
struct query_needs {
	bool stacks;
	bool sample_labels, series_labels; /* all of them, not only those that the query names */
	bool hourly_sums, daily_sums;      /* suffice for whole hours and days */
	uint64_t step_ms; /* sums of series over steps of this length suffice; 0: no steps */
};

/* The query's selector is not NULL. Cannot fail. */
struct query_needs query_needs_of(const struct store_query *query);
