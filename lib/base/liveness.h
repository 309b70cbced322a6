// SPDX-License-Identifier: Apache-2.0
/*
 * liveness - whether the threads of this process still advance.
 *
 * A thread that is watched advances when it says so (liveness_step()) and in every wait of this
 * project's libraries that has a deadline: these waits call liveness_wait_ms(), which divides them
 * into short ones. So a thread that waits for a server which is away, and tries again, advances; a
 * thread that stands still in one place, for instance in a call into a disk that hangs, does not.
 *
 *     liveness_begin("compaction");
 *     while (!daemon_stopping()) {
 *             liveness_step("merging rows");
 *             ...
 *     }
 *     liveness_end();
 *
 * A thread that is not watched may call all functions: they have no effect then. The list of the
 * watched threads is one of the global variables. Any thread.
 */
#pragma once

#include "base/err.h"

#include <pthread.h>

/*
 * The calling thread is watched from now on, until liveness_end(), which must come before its end.
 * `thread` is its name in messages: "the NAME thread has hung"; it is not copied. A thread that is
 * watched already stays so under its first name, until the first liveness_end().
 */
void liveness_begin(const char *thread);
void liveness_end(void);

/* The calling thread advances. `doing` is what it does from now on, for the message; it is not
 * copied, and must stay valid until the next step or liveness_end(). */
void liveness_step(const char *doing);

/* The calling thread advances. */
void liveness_advance(void);

/* The calling thread advances and is about to wait. Returns the milliseconds for which it may wait
 * before it must call this again: `left_ms`, or less if it is watched. For poll(). */
int liveness_wait_ms(uint64_t left_ms);

/* pthread_join() for a thread that is watched itself: the caller advances meanwhile. */
void liveness_join(pthread_t thread);

/* False: a thread has not advanced for LIVENESS_MS; the message (ERR_TIMEOUT) names the one that
 * has hung for the longest time, and what it did last. */
bool liveness_check(struct err *why);
