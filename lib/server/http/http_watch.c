// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/cond.h"
#include "base/heap.h"
#include "server/http/http_metrics_internal.h"
#include "server/http/http_watch_internal.h"
#include "server/limits.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

enum { POLL_MS = 250 };

static void wait_ms(struct http_watch *watch, uint64_t ms)
{
	cond_wait(&watch->changed, &watch->lock, clock_monotonic_ns() + ms * NS_PER_MS);
}

static void close_late(struct http_watch *watch)
{
	uint64_t now = clock_monotonic_ns();

	for (size_t i = 0; i < watch->slot_count; i++) {
		struct http_slot *slot = &watch->slots[i];

		if (slot->fd < 0 || slot->deadline_ns == 0 || now < slot->deadline_ns)
			continue;
		shutdown(slot->fd, SHUT_RDWR);
		slot->deadline_ns = 0;
		metric_add(&http_timeouts_total, 1);
	}
}

/* Called with the lock held; does not wait. */
static bool has_left(int fd)
{
	struct pollfd polled = { .fd = fd, .events = POLLRDHUP };

	return poll(&polled, 1, 0) > 0 && polled.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

/* Cancel the handlers of clients that have disconnected, or all. */
static void cancel_handlers(struct http_watch *watch, bool all)
{
	for (size_t i = 0; i < watch->slot_count; i++) {
		struct http_slot *slot = &watch->slots[i];

		if (slot->fd >= 0 && slot->gone && !cancel_requested(slot->gone) &&
		    (all || has_left(slot->fd)))
			cancel_request(slot->gone);
	}
}

void http_watch_cancel_all(struct http_watch *watch)
{
	pthread_mutex_lock(&watch->lock);
	cancel_handlers(watch, true);
	pthread_mutex_unlock(&watch->lock);
}

static void *run(void *self)
{
	struct http_watch *watch = self;

	pthread_mutex_lock(&watch->lock);
	while (!watch->stopping) {
		close_late(watch);
		cancel_handlers(watch, false);
		wait_ms(watch, POLL_MS);
	}
	pthread_mutex_unlock(&watch->lock);
	return NULL;
}

static void done(struct http_watch *watch)
{
	pthread_cond_destroy(&watch->changed);
	pthread_mutex_destroy(&watch->lock);
	free(watch->slots);
	*watch = (struct http_watch){ 0 };
}

bool http_watch_start(struct http_watch *watch, size_t connections, uint64_t receive_ms,
		      uint64_t send_ms, struct err *err)
{
	int failure;

	pthread_mutex_init(&watch->lock, NULL);
	pthread_cond_init(&watch->changed, NULL);
	watch->slots = heap_array(struct http_slot, connections);
	watch->slot_count = connections;
	for (size_t i = 0; i < connections; i++)
		watch->slots[i].fd = -1;
	watch->limits_ns[HTTP_IDLE] = receive_ms * NS_PER_MS;
	watch->limits_ns[HTTP_RECEIVING] = receive_ms * NS_PER_MS;
	watch->limits_ns[HTTP_SENDING] = send_ms * NS_PER_MS;
	watch->stopping = false;
	failure = pthread_create(&watch->thread, NULL, run, watch);
	if (failure) {
		done(watch);
		errno = failure;
		return err_errno(err, "start a thread of the HTTP server");
	}
	return true;
}

void http_watch_stop(struct http_watch *watch)
{
	if (!watch->slots)
		return;
	pthread_mutex_lock(&watch->lock);
	watch->stopping = true;
	pthread_cond_broadcast(&watch->changed);
	pthread_mutex_unlock(&watch->lock);
	pthread_join(watch->thread, NULL);
	done(watch);
}

/* Called with the lock held. */
static void enter(struct http_watch *watch, struct http_slot *slot, enum http_phase phase)
{
	uint64_t limit = watch->limits_ns[phase];

	slot->phase = phase;
	slot->gone = NULL;
	slot->deadline_ns = limit ? clock_monotonic_ns() + limit : 0;
}

/* Called with the lock held. If few slots are free, shut down the connection idle longest. */
static void make_room(struct http_watch *watch, const struct http_slot *newest)
{
	struct http_slot *oldest = NULL;
	size_t free_slots = 0;

	for (size_t i = 0; i < watch->slot_count; i++) {
		struct http_slot *slot = &watch->slots[i];
		bool is_idle = slot->fd >= 0 && slot->phase == HTTP_IDLE && slot->deadline_ns &&
			       slot != newest;

		free_slots += slot->fd < 0;
		if (is_idle && (!oldest || slot->deadline_ns < oldest->deadline_ns))
			oldest = slot;
	}
	if (!oldest || free_slots >= watch->slot_count / HTTP_SPARE_DIVISOR)
		return;
	shutdown(oldest->fd, SHUT_RDWR);
	oldest->deadline_ns = 0;
	metric_add(&http_evictions_total, 1);
}

struct http_slot *http_watch_acquire(struct http_watch *watch, int fd)
{
	struct http_slot *acquired = NULL;

	pthread_mutex_lock(&watch->lock);
	for (size_t i = 0; i < watch->slot_count && !acquired; i++) {
		if (watch->slots[i].fd < 0) {
			acquired = &watch->slots[i];
			acquired->fd = fd;
			enter(watch, acquired, HTTP_IDLE);
			metric_add(&http_connections, 1);
		}
	}
	if (acquired)
		make_room(watch, acquired);
	pthread_mutex_unlock(&watch->lock);
	if (!acquired) {
		metric_add(&http_refused_total, 1);
		shutdown(fd, SHUT_RDWR); /* its thread sees the end of the stream and exits */
	}
	return acquired;
}

void http_watch_release(struct http_watch *watch, struct http_slot *slot)
{
	if (!slot)
		return;
	pthread_mutex_lock(&watch->lock);
	*slot = (struct http_slot){ .fd = -1 };
	metric_add(&http_connections, (uint64_t)-1);
	pthread_cond_broadcast(&watch->changed);
	pthread_mutex_unlock(&watch->lock);
}

void http_watch_phase(struct http_watch *watch, struct http_slot *slot, enum http_phase phase)
{
	if (!slot)
		return;
	pthread_mutex_lock(&watch->lock);
	enter(watch, slot, phase);
	pthread_mutex_unlock(&watch->lock);
}

void http_watch_begin(struct http_watch *watch, struct http_slot *slot)
{
	if (!slot)
		return;
	pthread_mutex_lock(&watch->lock);
	slot->phase = HTTP_RECEIVING;
	pthread_mutex_unlock(&watch->lock);
}

void http_watch_handling(struct http_watch *watch, struct http_slot *slot, struct cancel *gone)
{
	if (!slot)
		return;
	pthread_mutex_lock(&watch->lock);
	enter(watch, slot, HTTP_HANDLING);
	slot->gone = gone;
	pthread_mutex_unlock(&watch->lock);
}

void http_watch_until(struct http_watch *watch, struct http_slot *slot, uint64_t deadline_ns)
{
	if (!slot)
		return;
	pthread_mutex_lock(&watch->lock);
	slot->deadline_ns = deadline_ns;
	pthread_mutex_unlock(&watch->lock);
}

void http_watch_sending(struct http_watch *watch, struct http_slot *slot, uint64_t len)
{
	if (!slot)
		return;
	pthread_mutex_lock(&watch->lock);
	enter(watch, slot, HTTP_SENDING);
	slot->deadline_ns += len / HTTP_SLOWEST_BYTES * NS_PER_SECOND;
	pthread_mutex_unlock(&watch->lock);
}

/* Called with the lock held. */
static bool is_busy(const struct http_watch *watch)
{
	for (size_t i = 0; i < watch->slot_count; i++)
		if (watch->slots[i].fd >= 0 && watch->slots[i].phase > HTTP_RECEIVING)
			return true;
	return false;
}

bool http_watch_drain(struct http_watch *watch, uint64_t timeout_ms)
{
	uint64_t deadline = clock_monotonic_ns() + timeout_ms * NS_PER_MS;
	bool busy;

	pthread_mutex_lock(&watch->lock);
	while ((busy = is_busy(watch)) && clock_monotonic_ns() < deadline)
		wait_ms(watch, POLL_MS);
	pthread_mutex_unlock(&watch->lock);
	return !busy;
}
