// SPDX-License-Identifier: Apache-2.0
/*
 * metrics - the counters, gauges and histograms of this process, in Prometheus' text format.
 *
 * A metric is a row of a table next to the code that updates it (METRICS() below); main registers
 * the tables. A metric may have one or two labels whose values are known in advance (for example a
 * table of reasons).
 *
 *     metric_add(&made, 5);
 *     metric_add_at(&rejected, REJECTED_FULL, 1);
 *     metric_observe(&flush_duration, took_ns);
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
	uint64_t (*read)(void); /* the value, which is kept elsewhere; NULL: it is kept here */
	uint64_t unit;          /* an exported value is the counted one divided by this; 0: by 1 */
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

/* The fields of a metric with one label: METRIC_LABEL("reason", reason_names, REASON_COUNT). */
#define METRIC_LABEL(name, names, count) .label = (name), .values = (names), .value_count = (count)

/*
 * Each metric is one row. METRICS() defines a static variable for each row, and the table for
 * metrics_register(). What follows the help are further fields of struct metric.
 *
 *     #define SHARE_METRICS(ROW)                                                               \
 *             ROW(made, METRIC_COUNTER, "decima_querier_shares_total", "Shares made.")         \
 *             ROW(rejected, METRIC_COUNTER, "decima_querier_share_rejections_total",           \
 *                 "Shares that were rejected, by reason.",                                     \
 *                 METRIC_LABEL("reason", reason_names, REASON_COUNT))
 *
 *     METRICS(share_metrics, SHARE_METRICS);
 */
#define METRICS(table, ROWS)         \
	ROWS(METRIC_STATIC_VARIABLE) \
	METRICS_TABLE(table, ROWS)

/* The parts of METRICS(), for variables that several files update: they are declared in a header.
 */
#define METRIC_DECLARATION(variable, ...) extern struct metric variable;
#define METRIC_VARIABLE(variable, metric_kind, id, text, ...) \
	struct metric variable = { .name = id, .kind = metric_kind, .help = text, __VA_ARGS__ };
#define METRIC_STATIC_VARIABLE(...)   static METRIC_VARIABLE(__VA_ARGS__)
#define METRIC_ADDRESS(variable, ...) &variable,
#define METRICS_TABLE(table, ROWS)    struct metric *const table[] = { ROWS(METRIC_ADDRESS) NULL }

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
