/*
 * metrics - counters and gauges of this process, in Prometheus' text format.
 *
 * A metric is a static variable beside the code that moves it; main registers tables of them. One
 * may be split by one label whose values are known beforehand (a table of reasons).
 *
 *     struct metric samples_total = { .name = "decima_ingester_samples_total",
 *             .kind = METRIC_COUNTER, .help = "Samples stored." };
 *     struct metric lost_total = { .name = "decima_agent_samples_lost_total",
 *             .kind = METRIC_COUNTER, .help = "Samples lost, by reason.",
 *             .label = "reason", .values = reason_names, .value_count = REASON_COUNT };
 *     metric_add(&samples_total, 5);
 *     metric_add_at(&lost_total, REASON_RING_FULL, 1);
 *
 * Any thread may move any metric at any time. Every value is printed, zeros too.
 */
#pragma once

#include "base/buf.h"

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE };
enum { METRIC_VALUES_MAX = 32 };

struct metric {
	const char *name, *help;
	enum metric_kind kind;
	const char *label;         /* NULL: one value */
	const char *const *values; /* of the label */
	size_t value_count;
	/* private */
	_Atomic int64_t numbers[METRIC_VALUES_MAX];
};

/* Once per metric, before the HTTP server starts. The process-wide registry is one of three
 * globals. */
void metrics_register(struct metric *const *metrics, size_t count);

/* The index-th that was registered; NULL: there are no more. */
const struct metric *metrics_at(size_t index);

void metric_add(struct metric *metric, uint64_t n);
void metric_add_at(struct metric *metric, size_t value, uint64_t n);
void metric_set(struct metric *metric,
		int64_t n); /* gauges; and cumulative counters read elsewhere */
void metric_set_at(struct metric *metric, size_t value, int64_t n);
int64_t metric_get(const struct metric *metric);
int64_t metric_get_at(const struct metric *metric, size_t value);

/* All registered metrics, and the process's own (CPU, RSS, start time, open files). */
void metrics_write(struct buf *out);
