// SPDX-License-Identifier: Apache-2.0
#include "base/queue.h"

#include "base/clock.h"

#include <assert.h>
#include <stdio.h>
#include <time.h>

void queue_init(struct queue *queue, size_t cap)
{
	pthread_condattr_t attr;

	assert(cap > 0);
	*queue = (struct queue){ .cap = cap };
	pthread_mutex_init(&queue->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&queue->filled, &attr);
	pthread_condattr_destroy(&attr);
	queue->items = calloc(cap, sizeof(*queue->items));
	if (!queue->items) { /* GCOVR_EXCL_START: the process aborts and writes no coverage counts
			      */
		fputs("out of memory\n", stderr);
		abort();
	} /* GCOVR_EXCL_STOP */
}

void queue_done(struct queue *queue)
{
	if (!queue->items)
		return;
	free(queue->items);
	pthread_cond_destroy(&queue->filled);
	pthread_mutex_destroy(&queue->lock);
	*queue = (struct queue){ 0 };
}

bool queue_push(struct queue *queue, void *item)
{
	pthread_mutex_lock(&queue->lock);

	bool fits = !queue->closed && queue->len < queue->cap;

	if (fits) {
		queue->items[(queue->first + queue->len) % queue->cap] = item;
		queue->len++;
		pthread_cond_signal(&queue->filled);
	}
	pthread_mutex_unlock(&queue->lock);
	return fits;
}

bool queue_pop(struct queue *queue, void **ret_item, uint64_t timeout_ms)
{
	uint64_t deadline_ns = clock_monotonic_ns() + timeout_ms * NS_PER_MS;
	struct timespec deadline = {
		.tv_sec = (time_t)(deadline_ns / NS_PER_SECOND),
		.tv_nsec = (long)(deadline_ns % NS_PER_SECOND),
	};
	int waited = 0;

	pthread_mutex_lock(&queue->lock);
	while (queue->len == 0 && !queue->closed && waited == 0)
		waited = pthread_cond_timedwait(&queue->filled, &queue->lock, &deadline);

	bool found = queue->len > 0;

	if (found) {
		*ret_item = queue->items[queue->first];
		queue->first = (queue->first + 1) % queue->cap;
		queue->len--;
	}
	pthread_mutex_unlock(&queue->lock);
	return found;
}

void queue_close(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->closed = true;
	pthread_cond_broadcast(&queue->filled);
	pthread_mutex_unlock(&queue->lock);
}

bool queue_is_closed(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);

	bool closed = queue->closed;

	pthread_mutex_unlock(&queue->lock);
	return closed;
}

size_t queue_len(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);

	size_t len = queue->len;

	pthread_mutex_unlock(&queue->lock);
	return len;
}
