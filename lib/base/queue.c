// SPDX-License-Identifier: Apache-2.0
#include "base/queue.h"

#include "base/clock.h"
#include "base/cond.h"
#include "base/heap.h"

#include <assert.h>

void queue_init(struct queue *queue, size_t cap)
{
	assert(cap > 0);
	*queue = (struct queue){ .cap = cap };
	pthread_mutex_init(&queue->lock, NULL);
	pthread_cond_init(&queue->filled, NULL);
	queue->items = heap_array(void *, cap);
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
	bool is_timely = true;

	pthread_mutex_lock(&queue->lock);
	while (queue->len == 0 && !queue->closed && is_timely)
		is_timely = cond_wait(&queue->filled, &queue->lock, deadline_ns);

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
