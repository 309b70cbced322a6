// SPDX-License-Identifier: Apache-2.0
/*
 * crew - a few threads, each with a worker, and the queue of the files that are to be read.
 *
 * Who has begun a build id in the tables puts it here; the crew ends it there (tables_finish),
 * whatever happens. Before and after a file is fetched its generation is asked for: only where both
 * are the same is it known which file the table is of.
 */
#pragma once

#include "base/queue.h"
#include "base/stop.h"
#include "generations.h"
#include "tables.h"

struct worker_pool_options {
	const char *directory; /* absolute; of the tables */
	const char *servers;
	const struct stop *stop;
};

struct worker_pool {
	/* private */
	struct worker_pool_options options;
	struct tables *tables;
	struct generations *generations;
	struct queue queue;
	_Atomic unsigned int next_number, thread_count;
	_Atomic uint64_t skip_until_ns[SERVERS_MAX]; /* servers that hung */
	pthread_t threads[8];
};

bool worker_pool_start(struct worker_pool *pool, const struct worker_pool_options *options,
		       struct tables *tables, struct generations *generations,
		       struct err *err) MUST_CHECK;
void worker_pool_stop(struct worker_pool *pool);

/* False: too many wait already; the build id is given back to the tables as it was. */
bool worker_pool_submit(struct worker_pool *pool, const struct build_id *id);

enum { WORKER_POOL_METRICS = 6 };
extern struct metric *const worker_pool_metrics[WORKER_POOL_METRICS];
