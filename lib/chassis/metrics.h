// SPDX-License-Identifier: Apache-2.0
/*
 * metrics - counters, gauges and histograms of this process, in Prometheus' text format.
 *
 * A metric is a static variable beside the code that moves it; main registers tables of them. One
 * may be split by one label whose values are known beforehand (a table of reasons), or by two.
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
 * Any thread may move any metric at any time. Every value is printed, zeros too; but of a metric
 * with two labels only those that are not 0, since most pairs never meet, and of one whose label is
 * a number only those that are there.
 */
#pragma once

#include "base/buf.h"

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };
enum { METRIC_VALUES_MAX = 32 };

/* The second of two labels, and room for all pairs: value i of the first with j of this one. */
struct metric_pairs {
	const char *label;
	const char *const *values;
	size_t value_count;
	_Atomic int64_t *cells; /* as many as all values of both multiply to */
};

/* A label whose values are the numbers below `count`, of which few are there at a time. */
struct metric_numbers {
	size_t count;
	_Atomic int64_t *cells; /* `count` of them: one more than the number, 0: it is not there */
};

struct metric {
	const char *name, *help;
	enum metric_kind kind;
	const char *label;         /* NULL: one value */
	const char *const *values; /* of the label */
	size_t value_count;
	const struct metric_pairs *pairs;        /* NULL: one label at most */
	const struct metric_numbers *numbers_of; /* NULL: the label's values have names */
	uint64_t unit; /* what is counted here and makes 1 of what is printed; 0: the same */
	/* Of a histogram: ascending, each the most that its bucket takes; a last one takes more. */
	const uint64_t *bounds;
	size_t bound_count;
	/* private */
	_Atomic int64_t numbers[METRIC_VALUES_MAX]; /* of a histogram: its buckets, then the sum */
};

/* From a millisecond to a minute, in nanoseconds: what a person waits for. */
enum { METRIC_SECONDS_BOUNDS = 14 };
extern const uint64_t metric_seconds_bounds[METRIC_SECONDS_BOUNDS];
#define METRIC_IN_SECONDS                                              \
	.unit = UINT64_C(1000000000), .bounds = metric_seconds_bounds, \
	.bound_count = METRIC_SECONDS_BOUNDS

/* Once per metric, before the HTTP server starts. The process-wide registry is one of three
 * globals. */
void metrics_register(struct metric *const *metrics, size_t count);

/* The index-th that was registered; NULL: there are no more. */
const struct metric *metrics_at(size_t index);

void metric_add(struct metric *metric, uint64_t n);
void metric_add_at(struct metric *metric, size_t value, uint64_t n);
void metric_add_pair(struct metric *metric, size_t value, size_t of_second, uint64_t n);
void metric_set(struct metric *metric,
		int64_t n); /* gauges; and cumulative counters read elsewhere */
void metric_set_at(struct metric *metric, size_t value, int64_t n);
/* Of a label that is a number; one that is too high is left out. Not below 0. */
void metric_set_number(struct metric *metric, size_t number, uint64_t n);
void metric_drop_number(struct metric *metric, size_t number);
int64_t metric_get(const struct metric *metric);
int64_t metric_get_at(const struct metric *metric, size_t value);

/* Put one more thing into the histogram. */
void metric_observe(struct metric *metric, uint64_t n);

/* All registered metrics, and the process's own (CPU, RSS, start time, open files). */
void metrics_write(struct buf *out);

/* The table of all of them as Markdown, on stdout: docs/metrics.md is made of it. */
void metrics_print_markdown(const char *title);
