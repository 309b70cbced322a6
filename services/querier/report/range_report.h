// SPDX-License-Identifier: Apache-2.0
/*
 * range_report - writes sums over time as JSON in Prometheus' format: a matrix.
 *
 * Borrows its input during the call. One thread.
 */
#pragma once

#include "querier/merge/range_sums.h"
#include "querier/report/query_stats.h"

struct range_report_input {
	struct range_sums *range;
	const struct range_result *result;
	str type; /* __name__ of the metrics; empty if they are sums over labels */
	const struct query_stats *stats;
	const str *warnings; /* the report adds one if result->left_out is not 0 */
	size_t warning_count;
};

/* Writes the body, in the arena. ERR_LIMIT: more memory than the range may use. */
bool range_report_write(const struct range_report_input *input, struct arena *arena, str *ret_body,
			struct err *err) MUST_CHECK;
