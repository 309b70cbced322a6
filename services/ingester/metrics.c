// SPDX-License-Identifier: Apache-2.0
#include "ingester/metrics.h"

#include "client/kafka_close.h"
#include "ingester/ingester_limits.h"

#include <assert.h>

static const char *const reject_names[REJECT_REASON_COUNT] = {
	OTLP_REJECT_REASONS(NAMED_TEXT) "bad_headers", "rejected_by_store", "conflict"
};

static _Atomic int64_t lag_cells[LAG_PARTITIONS_MAX];
static const struct metric_numbers lag_numbers = { LAG_PARTITIONS_MAX, lag_cells };
static _Atomic int64_t newest_cells[LAG_PARTITIONS_MAX];
static const struct metric_numbers newest_numbers = { LAG_PARTITIONS_MAX, newest_cells };

#define VARIABLE(variable, kind, name, ...) \
	METRIC_VARIABLE(variable, kind, "decima_ingester_" name, __VA_ARGS__)

INGESTER_METRICS(VARIABLE)
METRICS_TABLE(ingester_metrics, INGESTER_METRICS);

const char *reject_reason_name(size_t reason)
{
	assert(reason < REJECT_REASON_COUNT);
	return reject_names[reason];
}
