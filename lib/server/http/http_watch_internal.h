// SPDX-License-Identifier: Apache-2.0
/*
 * http_watch - shares the HTTP connections among clients, and closes them at a deadline, so that no
 * client can occupy the server.
 *
 * libmicrohttpd's own timeout restarts with every byte, so a client that sends a byte now and then
 * could occupy its thread for days. Here each connection has a slot with a deadline for its current
 * phase. One thread calls shutdown() on the sockets that are past their deadline; the thread of the
 * connection then sees the end of the stream and cleans up. Slots are acquired and released by
 * libmicrohttpd's notifications, which come before the socket is closed, so a descriptor that was
 * reused is never shut down.
 *
 * While a handler runs, no thread reads the socket. The watch thread therefore also polls for
 * clients that have disconnected and cancels their handlers. A client that shuts down only its
 * sending half counts as disconnected, as in most servers.
 *
 * Besides its ordinary connections the server has HTTP_RESERVED_CONNECTIONS. A new connection gets
 * a reserved slot if all ordinary ones are occupied, or if its client's address has its share of
 * them. The slot becomes an ordinary one when a request is received on it, if there is room by then
 * (http_watch_admit); otherwise only routes of health are served on it. Where room is scarce, the
 * connection that waits for a request or is in the middle of one, and whose deadline comes first,
 * is closed; in the middle of a request it gets a 503 first.
 *
 * All functions are thread-safe; `slot` may be NULL (a connection without a slot).
 */
#pragma once

#include "base/cancel.h"

#include <pthread.h>

enum http_phase {
	HTTP_IDLE,      /* waiting for a request until its first line is complete */
	HTTP_RECEIVING, /* receiving headers and body, with the deadline of HTTP_IDLE */
	HTTP_HANDLING,  /* in the handler; no deadline */
	HTTP_SENDING,   /* sending the response */
	HTTP_PHASE_COUNT,
};

struct http_slot {
	int fd; /* -1: free */
	enum http_phase phase;
	uint64_t deadline_ns;     /* monotonic; 0: none, or shut down already */
	bool is_reserved;         /* not one of the ordinary connections */
	bool is_closing;          /* shut down; its thread has not ended yet */
	unsigned char client[16]; /* the address, as IPv6; of IPv6 only the network */
	struct cancel *gone;      /* in the handler: cancelled when the client has disconnected */
};

struct http_watch {
	/* private; protected by the lock, except thread and limits_ns */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	struct http_slot *slots;
	size_t slot_count;                    /* ordinary and reserved */
	size_t connections;                   /* ordinary */
	size_t share;                         /* ordinary connections of one address */
	uint64_t limits_ns[HTTP_PHASE_COUNT]; /* 0: none */
	bool stopping;
};

/*
 * Out of memory aborts. One address has at most `share` of the `connections`. receive_ms bounds
 * HTTP_IDLE and HTTP_RECEIVING together. ERR_IO: the thread cannot start; the struct is zeroed
 * then, because without the thread there are no deadlines.
 */
bool http_watch_start(struct http_watch *watch, size_t connections, size_t share,
		      uint64_t receive_ms, uint64_t send_ms, struct err *err) MUST_CHECK;
void http_watch_stop(struct http_watch *watch);

/*
 * A slot for a new connection. If no slot is free, the connection is shut down and counted, and the
 * result is NULL.
 */
struct http_slot *http_watch_acquire(struct http_watch *watch, int fd);
void http_watch_release(struct http_watch *watch, struct http_slot *slot);

/* Enter a phase: its deadline begins now. */
void http_watch_phase(struct http_watch *watch, struct http_slot *slot, enum http_phase phase);

/* Whether any route may be served. NULL: yes. Otherwise the slot is a reserved one, which is
 * counted, and the result is a sentence that says why. */
const char *http_watch_admit(struct http_watch *watch, struct http_slot *slot);

/* The first line of a request is complete: HTTP_RECEIVING, with the deadline unchanged. */
void http_watch_begin(struct http_watch *watch, struct http_slot *slot);

/* Enter HTTP_HANDLING. `gone` must be valid until the phase changes. */
void http_watch_handling(struct http_watch *watch, struct http_slot *slot, struct cancel *gone);

/* Cancel all running handlers. */
void http_watch_cancel_all(struct http_watch *watch);

/* Replace the deadline of the current phase. */
void http_watch_until(struct http_watch *watch, struct http_slot *slot, uint64_t deadline_ns);

/* Enter HTTP_SENDING for `len` bytes: each HTTP_SLOWEST_BYTES extend the deadline by a second.
 * It is not later than until_ns (0: none), but at least a second from now. */
void http_watch_sending(struct http_watch *watch, struct http_slot *slot, uint64_t len,
			uint64_t until_ns);

/* Wait until no connection is in HTTP_HANDLING or HTTP_SENDING. False: timeout. */
bool http_watch_drain(struct http_watch *watch, uint64_t timeout_ms);
