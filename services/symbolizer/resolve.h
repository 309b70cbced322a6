// SPDX-License-Identifier: Apache-2.0
/*
 * resolve - a request for names into its answer: what generation, which table, which lines.
 *
 * Tables that are there answer at once; those that are not are begun, and waited for until the
 * request's time is over. What is not ready then is NAME_PENDING, or answered by the table of an
 * older generation, which the answer names; the work goes on, and the next request finds it done.
 */
#pragma once

#include "answers.h"
#include "crew.h"

struct resolve_options {
	uint64_t timeout_ns;
	const struct stop *stop;
};

struct resolver {
	struct resolve_options options;
	struct tables *tables;
	struct generations *generations;
	struct crew *crew;
	struct answers *answers;
};

/* `gone` is asked once nobody waits for the answer any more; may be NULL. */
struct symbolize_response resolve(const struct resolver *resolver,
				  const struct symbolize_request *request, const struct stop *gone,
				  struct arena *arena);

enum { RESOLVE_METRICS = 1, RESOLVE_WORK_METRICS = 2, RESOLVE_SHARED_METRICS = 1 };
extern struct metric *const resolve_metrics[RESOLVE_METRICS];
extern struct metric *const resolve_work_metrics[RESOLVE_WORK_METRICS];
extern struct metric *const resolve_shared_metrics[RESOLVE_SHARED_METRICS];
