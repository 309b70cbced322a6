// SPDX-License-Identifier: Apache-2.0
#include "store/scan/parallel_scan.h"

#include "base/heap.h"
#include "base/liveness.h"

#include <stdatomic.h>

enum { POP_MS = 1000 };

static void free_batch(struct payload_batch *batch)
{
	arena_free(&batch->arena);
	free(batch);
}

static void work(struct scan_worker *worker, const struct scan_plan *plan)
{
	struct parallel_scan *scan = worker->scan;
	const struct payload_reader reader = { worker->reader, plan, worker->sink };

	for (;;) {
		void *item = NULL;

		if (!queue_pop(&scan->batches, &item, POP_MS)) {
			if (queue_is_closed(&scan->batches))
				return;
			continue;
		}
		if (!scan->failed && !payload_batch_read(item, &reader, &worker->err))
			scan->failed = true;
		free_batch(item);
	}
}

static void *run(void *self)
{
	AUTO_ARENA arena = { 0 };
	CLEANUP(selector_done) struct selector selector = { 0 };
	struct scan_worker *worker = self;
	const struct parallel_scan *scan = worker->scan;
	struct scan_plan plan = *scan->leader.plan;
	struct err err; /* dropped: the other connections read the batches */

	liveness_begin("parallel reading");

	/* A copy: a matcher is used by one thread. */
	bool good = !plan.selector || selector_parse(plan.selector->text, &arena, &selector, &err);

	if (plan.selector)
		plan.selector = &selector;
	if (good &&
	    store_reader_join(worker->reader, scan->snapshot, &scan->leader.reader->bounds, &err)) {
		worker->reader->stats.connections = 1;
		work(worker, &plan);
	}
	store_reader_end(worker->reader);
	liveness_end();
	return NULL;
}

/* A worker that cannot start is no error: it is left out. */
static void start(struct parallel_scan *scan)
{
	struct err err;

	scan->started = true;
	queue_init(&scan->batches, (scan->count - 1) * 2);
	for (size_t i = 1; i < scan->count; i++)
		scan->leader.reader[i].stats = (struct store_stats){ 0 };
	if (!store_reader_export(scan->leader.reader, scan->snapshot, sizeof(scan->snapshot), &err))
		return;
	for (size_t i = 1; i < scan->count; i++) {
		struct scan_worker *worker = &scan->workers[i];

		worker->scan = scan;
		worker->reader = &scan->leader.reader[i];
		worker->sink = &scan->leader.sink[i];
		worker->started = pthread_create(&worker->thread, NULL, run, worker) == 0;
	}
}

static bool push_batch(struct parallel_scan *scan, struct payload_batch *batch)
{
	struct payload_batch *copy = heap_new(struct payload_batch);

	*copy = *batch;
	if (!queue_push(&scan->batches, copy)) {
		free(copy);
		return false;
	}
	*batch = (struct payload_batch){ 0 };
	return true;
}

bool parallel_scan_read(struct parallel_scan *scan, struct payload_batch *batch, struct err *err)
{
	if (scan->failed) {
		scan->leader_aborted = true;
		return err_set(err, ERR_IO, "another connection of the query failed");
	}
	scan->bytes += batch->bytes;
	if (scan->count > 1 && !scan->started && scan->bytes > READ_ALONE_BYTES)
		start(scan);
	return (scan->started && push_batch(scan, batch)) ||
	       payload_batch_read(batch, &scan->leader, err);
}

/* False: a batch could not be read; err is set. */
static bool read_remaining(struct parallel_scan *scan, struct err *err)
{
	bool good = true;
	void *item;

	while (queue_pop(&scan->batches, &item, 0)) {
		if (!scan->failed && !payload_batch_read(item, &scan->leader, err)) {
			scan->failed = true;
			good = false;
		}
		free_batch(item);
	}
	return good;
}

bool parallel_scan_end(struct parallel_scan *scan, bool good, struct err *err)
{
	bool has_err = !good && !scan->leader_aborted;

	if (!scan->started)
		return good;
	if (!good)
		scan->failed = true;
	queue_close(&scan->batches);
	has_err = !read_remaining(scan, err) || has_err;
	for (size_t i = 1; i < scan->count; i++) {
		struct scan_worker *worker = &scan->workers[i];

		if (worker->started)
			liveness_join(worker->thread);
		store_stats_add(&scan->leader.reader->stats, &scan->leader.reader[i].stats);
		if (worker->err.code && !has_err) {
			*err = worker->err;
			has_err = true;
		}
	}
	queue_done(&scan->batches);
	return !scan->failed;
}
