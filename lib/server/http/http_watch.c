// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/cond.h"
#include "base/heap.h"
#include "base/liveness.h"
#include "server/http/http_metrics_internal.h"
#include "server/http/http_watch_internal.h"
#include "server/limits.h"

#include <errno.h>
#include <netinet/in.h>
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
		slot->is_closing = true;
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

	liveness_begin("connection watch");
	pthread_mutex_lock(&watch->lock);
	while (!watch->stopping) {
		close_late(watch);
		cancel_handlers(watch, false);
		wait_ms(watch, POLL_MS);
	}
	pthread_mutex_unlock(&watch->lock);
	liveness_end();
	return NULL;
}

static void done(struct http_watch *watch)
{
	pthread_cond_destroy(&watch->changed);
	pthread_mutex_destroy(&watch->lock);
	free(watch->slots);
	*watch = (struct http_watch){ 0 };
}

bool http_watch_start(struct http_watch *watch, size_t connections, size_t share,
		      uint64_t receive_ms, uint64_t send_ms, struct err *err)
{
	int failure;

	pthread_mutex_init(&watch->lock, NULL);
	pthread_cond_init(&watch->changed, NULL);
	watch->connections = connections;
	watch->share = share;
	watch->slot_count = connections + HTTP_RESERVED_CONNECTIONS;
	watch->slots = heap_array(struct http_slot, watch->slot_count);
	for (size_t i = 0; i < watch->slot_count; i++)
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
	pthread_setname_np(watch->thread, "http-watch");
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

/*
 * An IPv4 address in its IPv6 form; of an IPv6 address only the network (/64), because a client can
 * choose the remainder.
 */
static void read_client(int fd, unsigned char client[static 16])
{
	static const unsigned char v4_prefix[12] = { [10] = 0xff, 0xff };
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} peer = { 0 };
	socklen_t len = sizeof(peer);

	memset(client, 0, 16);
	if (getpeername(fd, &peer.any, &len) < 0)
		return;
	if (peer.any.sa_family == AF_INET) {
		memcpy(client, v4_prefix, sizeof(v4_prefix));
		memcpy(client + sizeof(v4_prefix), &peer.v4.sin_addr, 4);
	} else {
		bool is_v4 = IN6_IS_ADDR_V4MAPPED(&peer.v6.sin6_addr);

		memcpy(client, &peer.v6.sin6_addr, is_v4 ? 16 : 8);
	}
}

/* How the slots are occupied, as seen by one of them, which is itself not counted. */
struct occupation {
	size_t ordinary, reserved;
	size_t own; /* ordinary ones of its client's address, without those that are being closed */
	/* Those that can be evicted whose deadline comes first; NULL: none. */
	struct http_slot *first_own, *first_ordinary, *first_reserved;
};

static void keep_first(struct http_slot **first, struct http_slot *slot)
{
	/* A reserved connection is for short responses: it can be evicted while it sends one. */
	bool can_be_evicted =
		slot->phase <= HTTP_RECEIVING || (slot->is_reserved && slot->phase == HTTP_SENDING);

	if (can_be_evicted && slot->deadline_ns &&
	    (!*first || slot->deadline_ns < (*first)->deadline_ns))
		*first = slot;
}

/* Called with the lock held. */
static struct occupation count_slots(const struct http_watch *watch, const struct http_slot *self)
{
	struct occupation found = { 0 };

	for (size_t i = 0; i < watch->slot_count; i++) {
		struct http_slot *slot = &watch->slots[i];
		bool is_own = memcmp(slot->client, self->client, sizeof(self->client)) == 0;

		if (slot->fd < 0 || slot == self)
			continue;
		if (slot->is_reserved) {
			found.reserved++;
			keep_first(&found.first_reserved, slot);
			continue;
		}
		found.ordinary++;
		keep_first(&found.first_ordinary, slot);
		if (is_own && !slot->is_closing) {
			found.own++;
			keep_first(&found.first_own, slot);
		}
	}
	return found;
}

/* Called with the lock held. `slot` may be NULL: nothing can be evicted. */
static bool evict(struct http_slot *slot)
{
	static const char response[] =
		"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\n"
		"Retry-After: 1\r\nConnection: close\r\n\r\n"
		"the request was incomplete when its connection was needed for another\n";

	if (!slot)
		return false;
	/* In this phase the connection's own thread sends nothing but a 100. */
	if (slot->phase == HTTP_RECEIVING) {
		(void)!send(slot->fd, response, sizeof(response) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		metric_add(&http_evicted_requests_total, 1);
	} else {
		metric_add(&http_evictions_total, 1);
	}
	shutdown(slot->fd, SHUT_RDWR);
	slot->deadline_ns = 0;
	slot->is_closing = true;
	return true;
}

/* Called with the lock held. Make an acquired slot an ordinary or a reserved one. */
static void place(struct http_watch *watch, struct http_slot *slot)
{
	struct occupation found = count_slots(watch, slot);
	size_t spare = watch->connections / HTTP_SPARE_DIVISOR;
	bool has_share = found.own < watch->share || evict(found.first_own);

	slot->is_reserved = !has_share || found.ordinary >= watch->connections;
	if (has_share && found.ordinary + spare >= watch->connections && found.own < watch->share)
		evict(found.first_ordinary);
	if (slot->is_reserved && found.reserved >= HTTP_RESERVED_CONNECTIONS / 2)
		evict(found.first_reserved);
}

struct http_slot *http_watch_acquire(struct http_watch *watch, int fd)
{
	struct http_slot *acquired = NULL;

	pthread_mutex_lock(&watch->lock);
	for (size_t i = 0; i < watch->slot_count && !acquired; i++) {
		if (watch->slots[i].fd < 0) {
			acquired = &watch->slots[i];
			acquired->fd = fd;
			read_client(fd, acquired->client);
			enter(watch, acquired, HTTP_IDLE);
			metric_add(&http_connections, 1);
		}
	}
	if (acquired)
		place(watch, acquired);
	pthread_mutex_unlock(&watch->lock);
	if (!acquired) {
		metric_add(&http_refused_total, 1);
		shutdown(fd, SHUT_RDWR); /* its thread sees the end of the stream and exits */
	}
	return acquired;
}

const char *http_watch_admit(struct http_watch *watch, struct http_slot *slot)
{
	static const char all[] = "all connections are in use: try again later";
	const char *why = NULL;

	if (!slot)
		return all;
	pthread_mutex_lock(&watch->lock);
	if (slot->is_reserved) {
		struct occupation found = count_slots(watch, slot);
		bool has_share = found.own >= watch->share;

		slot->is_reserved = has_share || found.ordinary >= watch->connections;
		if (slot->is_reserved) {
			metric_add(has_share ? &http_share_refused_total : &http_refused_total, 1);
			why = has_share ? "your address has all the connections that one address "
					  "may have (--http-address-share): try again later"
					: all;
		}
	}
	pthread_mutex_unlock(&watch->lock);
	return why;
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

void http_watch_sending(struct http_watch *watch, struct http_slot *slot, uint64_t len,
			uint64_t until_ns)
{
	uint64_t soonest = clock_monotonic_ns() + NS_PER_SECOND;

	if (!slot)
		return;
	pthread_mutex_lock(&watch->lock);
	enter(watch, slot, HTTP_SENDING);
	slot->deadline_ns += len / HTTP_SLOWEST_BYTES * NS_PER_SECOND;
	if (until_ns && until_ns < soonest)
		until_ns = soonest;
	if (until_ns && until_ns < slot->deadline_ns)
		slot->deadline_ns = until_ns;
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
