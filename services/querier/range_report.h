// SPDX-License-Identifier: Apache-2.0
/*
 * range_report - sums over time as Prometheus writes them: a matrix.
 */
#pragma once

#include "query_stats.h"
#include "range_sums.h"

struct range_report_input {
	struct range_sums *range;
	const struct range_result *result;
	str type; /* __name__ of the metrics; empty where they are sums over labels */
	const struct query_stats *stats;
	const str *warnings; /* beside that of what is left out */
	size_t warning_count;
};

/* ERR_LIMIT: it needs more memory than the range may. */
bool range_report_write(const struct range_report_input *input, struct arena *arena, str *ret_body,
			struct err *err) MUST_CHECK;
