// SPDX-License-Identifier: Apache-2.0
/*
 * queue - a bounded FIFO queue of pointers between threads.
 *
 * Several threads may push and several may pop. A push to a full queue fails at once; a pop waits
 * up to its timeout. Closing the queue wakes all waiting threads: queued items can still be popped,
 * but new ones cannot be pushed. The queue does not own the items.
 *
 *     while (queue_pop(&queue, &item, DEADLINE_MS) || !queue_is_closed(&queue))
 */
#pragma once

#include "base/base.h"

#include <pthread.h>

struct queue {
	/* private */
	pthread_mutex_t lock;
	pthread_cond_t filled;
	void **items;
	size_t cap, first, len;
	bool closed;
};

/*
 * Initialise a queue of at most `cap` items; cap is at least 1. Cannot fail: the process aborts if
 * there is no memory. queue_done() frees the queue but not its items, accepts a zeroed queue, and
 * must be called after all threads have stopped using the queue.
 */
void queue_init(struct queue *queue, size_t cap);
void queue_done(struct queue *queue);

/* False if the queue is full or closed; the caller then still owns the item. */
bool queue_push(struct queue *queue, void *item) MUST_CHECK;

/* Move the oldest item to *ret_item; the caller then owns the item. False: no item arrived within
 * timeout_ms, or the queue is closed and empty; *ret_item is unchanged. */
bool queue_pop(struct queue *queue, void **ret_item, uint64_t timeout_ms) MUST_CHECK;

/* Close the queue for pushes and wake all threads that wait. A queue cannot be reopened. */
void queue_close(struct queue *queue);
bool queue_is_closed(struct queue *queue);

/* The number of items now; other threads may change it at any time. */
size_t queue_len(struct queue *queue);
