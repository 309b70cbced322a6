// SPDX-License-Identifier: Apache-2.0
#include "base/queue.h"
#include "support/test.h"

#include <stdatomic.h>

enum { PER_THREAD = 20000, THREADS = 3 };

struct shared {
	struct queue queue;
	atomic_ullong sum, popped;
};

static void *push_all(void *arg)
{
	struct shared *shared = arg;

	for (uintptr_t i = 1; i <= PER_THREAD;)
		if (queue_push(&shared->queue, (void *)i))
			i++;
	return NULL;
}

static void *pop_all(void *arg)
{
	struct shared *shared = arg;
	void *item;

	while (queue_pop(&shared->queue, &item, 1000)) {
		atomic_fetch_add(&shared->sum, (uintptr_t)item);
		atomic_fetch_add(&shared->popped, 1);
	}
	return NULL;
}

static void delivers_each_item_to_exactly_one_thread(void **state)
{
	struct shared shared = { 0 };
	pthread_t pushers[THREADS], poppers[THREADS];

	(void)state;
	queue_init(&shared.queue, 64);
	for (int i = 0; i < THREADS; i++) {
		pthread_create(&poppers[i], NULL, pop_all, &shared);
		pthread_create(&pushers[i], NULL, push_all, &shared);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(pushers[i], NULL);
	queue_close(&shared.queue);
	for (int i = 0; i < THREADS; i++)
		pthread_join(poppers[i], NULL);

	assert_int_equal(atomic_load(&shared.popped), THREADS * PER_THREAD);
	assert_int_equal(atomic_load(&shared.sum),
			 (uint64_t)THREADS * PER_THREAD * (PER_THREAD + 1) / 2);
	queue_done(&shared.queue);
}

static void rejects_items_when_full_or_closed(void **state)
{
	struct queue queue;
	void *item = NULL;

	(void)state;
	queue_init(&queue, 2);
	assert_true(queue_push(&queue, (void *)1));
	assert_true(queue_push(&queue, (void *)2));
	assert_false(queue_push(&queue, (void *)3));
	queue_close(&queue);
	assert_true(queue_pop(&queue, &item, 0));
	assert_ptr_equal(item, (void *)1);
	assert_false(queue_push(&queue, (void *)3));
	assert_true(queue_pop(&queue, &item, 0));
	assert_ptr_equal(item, (void *)2);
	assert_false(queue_pop(&queue, &item, 1000));
	queue_done(&queue);
}

static void a_pop_ends_at_its_deadline(void **state)
{
	struct queue queue;
	void *item;

	(void)state;
	queue_init(&queue, 1);
	assert_false(queue_pop(&queue, &item, 5));
	queue_done(&queue);
	queue_done(&(struct queue){ 0 });
}

static void reports_its_length_and_whether_it_is_closed(void **state)
{
	struct queue queue;
	void *item;

	(void)state;
	queue_init(&queue, 4);
	for (uintptr_t i = 1; i <= 3; i++)
		assert_true(queue_push(&queue, (void *)i));
	assert_int_equal(queue_len(&queue), 3);
	assert_true(queue_pop(&queue, &item, 0));
	assert_int_equal(queue_len(&queue), 2);
	assert_false(queue_is_closed(&queue));
	queue_close(&queue);
	assert_true(queue_is_closed(&queue));
	assert_int_equal(queue_len(&queue), 2); /* queued items can still be popped */
	queue_done(&queue);
}

RUN_TESTS(TEST(delivers_each_item_to_exactly_one_thread), TEST(rejects_items_when_full_or_closed),
	  TEST(a_pop_ends_at_its_deadline), TEST(reports_its_length_and_whether_it_is_closed))
