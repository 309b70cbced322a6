// SPDX-License-Identifier: Apache-2.0
/*
 * metrics - the counters, gauges and histograms of this process, in Prometheus' text format.
 *
 * A metric is a static variable next to the code that updates it; main registers tables of metrics.
 * A metric may have one or two labels whose values are known in advance (for example a table
 * of reasons).
 *
 *     struct metric samples_total = { .name = "decima_ingester_samples_total",
 *             .kind = METRIC_COUNTER, .help = "Samples stored." };
 *     struct metric lost_total = { .name = "decima_agent_samples_lost_total",
 *             .kind = METRIC_COUNTER, .help = "Samples lost, by reason.",
 *             .label = "reason", .values = reason_names, .value_count = REASON_COUNT };
 *     struct metric flush_seconds = { .name = "decima_ingester_flush_duration_seconds",
 *             .kind = METRIC_HISTOGRAM, .help = "Time of a flush.", METRIC_IN_SECONDS };
 *     metric_add(&samples_total, 5);
 *     metric_add_at(&lost_total, REASON_RING_FULL, 1);
 *     metric_observe(&flush_seconds, took_ns);
 *
 * Any thread may update any metric at any time. All values are exported, zeros included, with two
 * exceptions: a metric with two labels exports only the pairs that are not 0, since most pairs
 * never occur; a metric whose label is a number exports only the numbers that are set.
 */
#pragma once

#include "base/buf.h"

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };
enum { METRIC_VALUES_MAX = 32 };

/* The second of two labels, and the counters of all pairs of values. */
struct metric_pairs {
	const char *label;
	const char *const *values;
	size_t value_count;
	_Atomic int64_t *cells; /* [value of the first label * value_count + value of this one] */
};

/* A label whose values are the numbers below `count`, of which few are set at a time. */
struct metric_numbers {
	size_t count;
	_Atomic int64_t *cells; /* [count]: the metric's value plus 1; 0: not set */
};

struct metric {
	const char *name, *help;
	enum metric_kind kind;
	const char *label;         /* NULL: none, one value */
	const char *const *values; /* of the label */
	size_t value_count;
	const struct metric_pairs *pairs;      /* NULL: at most one label */
	const struct metric_numbers *numbered; /* NULL: the label's values are strings */
	uint64_t unit; /* an exported value is the counted one divided by this; 0: by 1 */
	/* Of a histogram: ascending inclusive upper bounds; an unbounded bucket follows. */
	const uint64_t *bounds;
	size_t bound_count;
	/* private */
	_Atomic int64_t numbers[METRIC_VALUES_MAX]; /* of a histogram: the buckets, then the sum */
};

/* Histogram bounds from a millisecond to a minute, in nanoseconds. */
enum { METRIC_SECONDS_BOUNDS = 14 };
extern const uint64_t metric_seconds_bounds[METRIC_SECONDS_BOUNDS];
#define METRIC_IN_SECONDS                                              \
	.unit = UINT64_C(1000000000), .bounds = metric_seconds_bounds, \
	.bound_count = METRIC_SECONDS_BOUNDS

/* Define a table for metrics_register(): METRICS(share_metrics, &made, &rejected); */
#define METRICS(name, ...) struct metric *const name[] = { __VA_ARGS__, NULL }

/* Add a table of METRICS() to the process-wide registry, one of the global variables. Call it
 * before the HTTP server starts; a metric that is registered already is skipped. */
void metrics_register(struct metric *const *metrics);

/* The registered metric with this index; NULL: the index is past the last one. */
const struct metric *metrics_at(size_t index);

void metric_add(struct metric *metric, uint64_t n);
void metric_add_at(struct metric *metric, size_t value, uint64_t n);
void metric_add_pair(struct metric *metric, size_t value, size_t of_second, uint64_t n);
/* For gauges, and for counters whose total is kept elsewhere. */
void metric_set(struct metric *metric, int64_t n);
void metric_set_at(struct metric *metric, size_t value, int64_t n);
/* For a label that is a number. Numbers >= count are ignored. */
void metric_set_number(struct metric *metric, size_t number, uint64_t n);
void metric_clear_number(struct metric *metric, size_t number);
int64_t metric_get(const struct metric *metric);
int64_t metric_get_at(const struct metric *metric, size_t value);

/* Add an observation to a histogram, in counted units (see `unit`). */
void metric_observe(struct metric *metric, uint64_t n);

/* Write all registered metrics and those of the process (CPU time, RSS, start time, open files). */
void metrics_write(struct buf *out);

/* Print the table of registered metrics as Markdown on stdout, for docs/metrics.md. */
void metrics_print_markdown(const char *title);
