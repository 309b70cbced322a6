// SPDX-License-Identifier: Apache-2.0
/*
 * cancel - a cancellation token: set once, observed by every wait.
 *
 * A signal handler or any thread requests cancellation; a request cannot be withdrawn. A thread
 * that waits for a descriptor polls `fd` as well. Work in progress may continue for a grace period,
 * which the waiting code chooses: cancel_deadline_ns(). Functions that take a const pointer accept
 * NULL: a token that is never cancelled.
 */
#pragma once

#include "base/err.h"

struct cancel {
	int fd; /* an eventfd: readable once cancelled; never read, so that all waiters wake */
	_Atomic uint64_t requested_ns; /* clock_monotonic_ns() of the first request; 0: none yet */
};

/*
 * Initialise the token. A cancellation that was requested before this call is lost. ERR_IO: the
 * system has no descriptor left; the token is then closed. A token that was never opened must have
 * .fd = -1, which cancel_close() accepts, as it does a closed token.
 */
bool cancel_open(struct cancel *cancel, struct err *err) MUST_CHECK;
void cancel_close(struct cancel *cancel);

/* Request cancellation. Async-signal-safe; any thread. */
void cancel_request(struct cancel *cancel);

/* True once cancellation was requested. Any thread. */
bool cancel_requested(const struct cancel *cancel);

/* Sleep for up to timeout_ms; returns early on a cancellation or a signal. False: cancelled. A
 * sleep that a signal ended returns true. */
bool cancel_wait(const struct cancel *cancel, uint64_t timeout_ms);

/* The time at which a wait must end: deadline_ns, or grace_ms after the cancellation was requested
 * if that is earlier. Times are those of clock_monotonic_ns(). */
uint64_t cancel_deadline_ns(const struct cancel *cancel, uint64_t deadline_ns, uint64_t grace_ms);
