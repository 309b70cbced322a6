// SPDX-License-Identifier: Apache-2.0
/*
 * queue - a bounded queue of pointers between threads.
 *
 * Many may push, many may pop. A push into a full queue fails at once and says so; the caller
 * counts it or waits. A pop waits until its deadline. Closing wakes everybody: what is queued can
 * still be popped, nothing more can be pushed.
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

void queue_init(struct queue *queue, size_t cap);
void queue_done(struct queue *queue);

/* False when the queue is full or closed; the item stays the caller's. */
bool queue_push(struct queue *queue, void *item) MUST_CHECK;

/* False when nothing came within timeout_ms, or the queue is closed and empty. */
bool queue_pop(struct queue *queue, void **ret_item, uint64_t timeout_ms) MUST_CHECK;

void queue_close(struct queue *queue);
bool queue_is_closed(struct queue *queue);
size_t queue_len(struct queue *queue);
