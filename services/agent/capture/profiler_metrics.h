// SPDX-License-Identifier: Apache-2.0
/*
 * profiler_metrics - the profiler's counters as Prometheus metrics.
 *
 * The modules count in plain fields. profiler_metrics_count() copies the samples and their losses
 * once per round, profiler_metrics_update() everything once per interval, so that counting itself
 * costs nothing. Agent thread only.
 */
#pragma once

#include "agent/capture/profiler.h"

/* For metrics_register(). */
extern struct metric *const profiler_metrics[];

/* Copies the counts of samples and losses of an open profiler into the metrics. Cannot fail. */
void profiler_metrics_count(struct profiler *profiler);

/* Copies all counters of an open profiler into the metrics. Cannot fail. */
void profiler_metrics_update(struct profiler *profiler);
