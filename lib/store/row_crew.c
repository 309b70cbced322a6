// SPDX-License-Identifier: Apache-2.0
#include "store/row_crew.h"

#include <stdatomic.h>

enum { POP_MS = 1000 };

static void batch_free(struct row_batch *batch)
{
	arena_free(&batch->arena);
	free(batch);
}

static void work(struct row_helper *helper)
{
	struct row_crew *crew = helper->crew;

	for (;;) {
		void *item = NULL;

		if (!queue_pop(&crew->batches, &item, POP_MS)) {
			if (queue_is_closed(&crew->batches))
				return;
			continue;
		}
		if (!crew->failed && !row_batch_read(item, &helper->rows, &helper->err))
			crew->failed = true;
		batch_free(item);
	}
}

static void *run(void *self)
{
	struct row_helper *helper = self;
	const struct row_crew *crew = helper->crew;
	struct err err; /* not the question's: the others read what it does not */

	if (store_reader_join(helper->reader, crew->snapshot, &crew->leader->bounds, &err)) {
		helper->reader->stats.connections = 1;
		work(helper);
	}
	store_reader_end(helper->reader);
	return NULL;
}

/* Helpers are not worth an error: who cannot start is not there. */
static void start(struct row_crew *crew)
{
	struct err err;

	crew->started = true;
	if (!store_reader_export(crew->leader, crew->snapshot, sizeof(crew->snapshot), &err))
		return;
	for (size_t i = 0; i < crew->helper_count; i++) {
		struct row_helper *helper = &crew->helpers[i];

		helper->crew = crew;
		helper->started = pthread_create(&helper->thread, NULL, run, helper) == 0;
	}
}

static bool hand_over(struct row_crew *crew, struct row_batch *batch)
{
	struct row_batch *copy = malloc(sizeof(*copy));

	if (!copy)
		abort(); /* out of memory */
	*copy = *batch;
	if (!queue_push(&crew->batches, copy)) {
		free(copy);
		return false;
	}
	*batch = (struct row_batch){ 0 };
	return true;
}

bool row_crew_read(struct row_crew *crew, struct row_batch *batch, struct err *err)
{
	if (crew->failed) {
		crew->gave_up = true;
		return err_set(err, ERR_IO, "another connection of the query failed");
	}
	crew->bytes += batch->bytes;
	if (crew->helper_count && !crew->started && crew->bytes > READ_ALONE_BYTES) {
		queue_init(&crew->batches, crew->helper_count * 2);
		start(crew);
	}
	return (crew->started && hand_over(crew, batch)) || row_batch_read(batch, &crew->rows, err);
}

/* False: a batch could not be read, for which there is a sentence. */
static bool read_rest(struct row_crew *crew, struct err *err)
{
	bool good = true;
	void *item;

	while (queue_pop(&crew->batches, &item, 0)) {
		if (!crew->failed && !row_batch_read(item, &crew->rows, err)) {
			crew->failed = true;
			good = false;
		}
		batch_free(item);
	}
	return good;
}

bool row_crew_end(struct row_crew *crew, bool good, struct err *err)
{
	bool told = !good && !crew->gave_up;

	if (!crew->started)
		return good;
	if (!good)
		crew->failed = true;
	queue_close(&crew->batches);
	told = !read_rest(crew, err) || told;
	for (size_t i = 0; i < crew->helper_count; i++) {
		struct row_helper *helper = &crew->helpers[i];

		if (helper->started)
			pthread_join(helper->thread, NULL);
		store_stats_add(crew->rows.stats, &helper->reader->stats);
		if (helper->err.code && !told) {
			*err = helper->err;
			told = true;
		}
	}
	queue_done(&crew->batches);
	return !crew->failed;
}
