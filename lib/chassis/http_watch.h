// SPDX-License-Identifier: Apache-2.0
/*
 * http_watch - cuts connections that take too long, so that slow clients cannot hold threads.
 *
 * libmicrohttpd's own timeout starts anew with every byte; a client that sends one now and then
 * would keep its thread for days. Here each connection has a slot with a deadline for the whole of
 * what it is doing, and one thread that shuts the sockets of those past theirs. The thread of the
 * connection then sees the end and cleans up. Slots are taken and given back by libmicrohttpd's
 * notifications, which come before a socket is closed: a number is never shut after its reuse.
 *
 * While a handler works nobody reads the socket, so this is also where it is seen that a client has
 * left. One that only shuts its sending half counts as gone, as with most servers.
 */
#pragma once

#include "base/stop.h"
#include "chassis/metrics.h"

#include <pthread.h>

enum http_phase {
	HTTP_IDLE,      /* no request has begun: its headers are not complete */
	HTTP_RECEIVING, /* its body; the deadline is still that of the beginning */
	HTTP_HANDLING,  /* in the handler, which watches its own time */
	HTTP_SENDING,
	HTTP_PHASE_COUNT,
};

struct http_slot {
	int fd; /* -1: free */
	enum http_phase phase;
	uint64_t deadline_ns; /* monotonic; 0: none, or cut already */
	struct stop *gone;    /* while in the handler: asked when the client has left */
};

struct http_watch {
	/* private, under the lock but for thread and limits */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	struct http_slot *slots;
	size_t slot_count;
	uint64_t limits_ns[HTTP_PHASE_COUNT]; /* 0: none */
	bool stopping, started;
};

void http_watch_start(struct http_watch *watch, size_t connections, uint64_t receive_ms,
		      uint64_t send_ms);
void http_watch_stop(struct http_watch *watch);

/*
 * NULL when every slot is taken: then the connection is cut, counted. Where few are left the one
 * that was idle longest is cut, so that those who only hold connections open do not keep others
 * out.
 */
struct http_slot *http_watch_take(struct http_watch *watch, int fd);
void http_watch_give(struct http_watch *watch, struct http_slot *slot);
void http_watch_phase(struct http_watch *watch, struct http_slot *slot, enum http_phase phase);

/* The headers have come: it is idle no more. */
void http_watch_begin(struct http_watch *watch, struct http_slot *slot);

/* In the handler from now on, and until the phase changes. */
void http_watch_handling(struct http_watch *watch, struct http_slot *slot, struct stop *gone);

/* Tell all handlers that nobody waits for them. */
void http_watch_abandon(struct http_watch *watch);

/* Another deadline for the phase that it is in. */
void http_watch_until(struct http_watch *watch, struct http_slot *slot, uint64_t deadline_ns);

/* Begin to send so many bytes: their deadline grows with them (HTTP_SLOWEST_BYTES). */
void http_watch_sending(struct http_watch *watch, struct http_slot *slot, uint64_t len);

/* Wait until no connection is being answered. False: some still are after timeout_ms. */
bool http_watch_drain(struct http_watch *watch, uint64_t timeout_ms);

extern struct metric http_timeouts_total, http_refused_total, http_evictions_total,
	http_connections;
