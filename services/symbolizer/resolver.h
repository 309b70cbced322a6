// SPDX-License-Identifier: Apache-2.0
/*
 * resolve - a request for names into its answer: what generation, which table, which lines.
 *
 * Tables that are there answer at once; those that are not are begun, and waited for until the
 * request's time is over. What is not ready then is NAME_PENDING, or answered by the table of an
 * older generation, which the answer names; the work goes on, and the next request finds it done.
 */
#pragma once

#include "shared_cache.h"
#include "worker_pool.h"

struct resolver_options {
	uint64_t timeout_ns;
	const struct stop *stop;
};

struct resolver {
	struct resolver_options options;
	struct tables *tables;
	struct generations *generations;
	struct worker_pool *pool;
	struct shared_cache *cache;
};

/* `gone` is asked once nobody waits for the answer any more; may be NULL. */
struct symbolize_response resolver_resolve(const struct resolver *resolver,
					   const struct symbolize_request *request,
					   const struct stop *client_gone, struct arena *arena);

enum { RESOLVER_METRICS = 4 };
extern struct metric *const resolver_metrics[RESOLVER_METRICS];
