// SPDX-License-Identifier: Apache-2.0
/*
 * stop - a cancellation token: set once, observed by every wait.
 *
 * A signal handler or any thread requests cancellation; a request cannot be withdrawn. A thread
 * that waits for a descriptor polls `fd` as well. Work in progress may continue for a grace period,
 * which the waiting code chooses: stop_bound_ns(). Functions that take a const pointer accept NULL:
 * a token that is never cancelled.
 */
#pragma once

#include "base/err.h"

struct stop {
	int fd; /* an eventfd: readable once cancelled; never read, so that all waiters wake */
	_Atomic uint64_t asked_ns; /* clock_monotonic_ns() of the first request; 0: none yet */
};

/* A token that is not open has .fd = -1. A request made before this call is lost. */
bool stop_open(struct stop *stop, struct err *err) MUST_CHECK;
void stop_close(struct stop *stop);

/* Request cancellation. Async-signal-safe; any thread. */
void stop_ask(struct stop *stop);

/* True once cancellation was requested. */
bool stop_is_asked(const struct stop *stop);

/* Sleep for up to timeout_ms; returns early on a cancellation or a signal. False: cancelled. */
bool stop_wait(const struct stop *stop, uint64_t timeout_ms);

/* When a wait must end: at deadline_ns, or grace_ms after the cancellation if that is earlier. */
uint64_t stop_bound_ns(const struct stop *stop, uint64_t deadline_ns, uint64_t grace_ms);
