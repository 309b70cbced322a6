// SPDX-License-Identifier: Apache-2.0
/*
 * worker_pool - a queue of files to read, and threads that each control child processes.
 *
 * The caller starts a build with tables_begin() and then submits the build id. The pool always
 * calls tables_finish(), also after a failure. The pool queries the file's generation before and
 * after the fetch: only if both are the same is it known which generation the table belongs to. Any
 * thread may submit.
 */
#pragma once

#include "base/cancel.h"
#include "base/queue.h"
#include "symbolizer/build/generations.h"
#include "symbolizer/tables/tables.h"

struct worker_pool_options {
	const char *directory; /* absolute path of the tables' directory */
	const char *servers;
	uint64_t sandbox_uid; /* of processes that read files, if this one is root */
	const struct cancel *cancel;
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

/* Starts the threads. The options' texts, `tables` and `generations` are borrowed until
 * worker_pool_stop(). ERR_IO: a thread cannot be started; then no thread runs. */
bool worker_pool_start(struct worker_pool *pool, const struct worker_pool_options *options,
		       struct tables *tables, struct generations *generations,
		       struct err *err) MUST_CHECK;

/* Joins the threads; the caller sets options.cancel before, so that a build ends early. Accepts a
 * zeroed struct and one whose worker_pool_start() failed. */
void worker_pool_stop(struct worker_pool *pool);

/* Queues a build; `id` is copied. False: the queue is full. Then the function has called
 * tables_finish() with NAME_PENDING, so the build id is as it was before tables_begin(). */
bool worker_pool_submit(struct worker_pool *pool, const struct build_id *id);

extern struct metric *const worker_pool_metrics[];
