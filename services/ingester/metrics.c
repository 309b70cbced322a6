// SPDX-License-Identifier: Apache-2.0
#include "ingester/metrics.h"

#include "ingester/ingester_limits.h"

#include <assert.h>

static const char *reject_names[REJECT_REASON_COUNT];

static _Atomic int64_t lag_cells[LAG_PARTITIONS_MAX];
static const struct metric_numbers lag_numbers = { LAG_PARTITIONS_MAX, lag_cells };
static _Atomic int64_t newest_cells[LAG_PARTITIONS_MAX];
static const struct metric_numbers newest_numbers = { LAG_PARTITIONS_MAX, newest_cells };

#define VARIABLE(variable, kind, name, ...) \
	METRIC_VARIABLE(variable, kind, "decima_ingester_" name, __VA_ARGS__)

INGESTER_METRICS(VARIABLE)
static METRICS_TABLE(all, INGESTER_METRICS);

const char *reject_reason_name(size_t reason)
{
	assert(reason < REJECT_REASON_COUNT);
	if (reason == REJECT_HEADERS)
		return "bad_headers";
	return reason == REJECT_BY_STORE ? "rejected_by_store" : otlp_reason_names[reason];
}

void ingester_metrics_register(void)
{
	for (size_t i = 0; i < REJECT_REASON_COUNT; i++)
		reject_names[i] = reject_reason_name(i);
	metrics_register(all);
}
