// SPDX-License-Identifier: Apache-2.0
/*
 * stop - the wish that a process end: asked for once, heard by every wait.
 *
 * It is asked for by a signal's handler or any thread, and never taken back. Whoever waits polls
 * `fd` beside what it waits for; what is under way may go on for a grace that the waiter knows:
 * stop_bound_ns(). NULL in place of a stop is one that nobody ever asks for.
 */
#pragma once

#include "base/err.h"

struct stop {
	int fd; /* readable once it is asked for, and never read, so that every waiter wakes */
	_Atomic uint64_t asked_ns; /* clock_monotonic_ns() of it; 0: not yet */
};

/* Nobody can ask before it is opened: .fd = -1. */
bool stop_open(struct stop *stop, struct err *err) MUST_CHECK;
void stop_close(struct stop *stop);

/* Signal-safe. */
void stop_ask(struct stop *stop);
bool stop_is_asked(const struct stop *stop);

/* Sleep, at most timeout_ms, less when it is asked for. False: stop. */
bool stop_wait(const struct stop *stop, uint64_t timeout_ms);

/* When a wait must end that may last until deadline_ns, but only grace_ms beyond the asking. */
uint64_t stop_bound_ns(const struct stop *stop, uint64_t deadline_ns, uint64_t grace_ms);
