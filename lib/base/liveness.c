// SPDX-License-Identifier: Apache-2.0
#include "base/liveness.h"

#include "base/base_limits.h"
#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>

enum { JOIN_POLL_MS = 10 }; /* joins are for the end of a service */

struct watched {
	const char *thread;        /* NULL: the thread is not watched */
	const char *_Atomic doing; /* NULL: not said */
	_Atomic uint64_t advanced_ns;
	struct watched *next, **place; /* what points to it */
};

static _Thread_local struct watched own;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct watched *first; /* under the lock */

void liveness_begin(const char *thread)
{
	if (own.thread)
		return;
	own.thread = thread;
	own.doing = NULL;
	own.advanced_ns = clock_monotonic_ns();
	pthread_mutex_lock(&lock);
	own.next = first;
	own.place = &first;
	if (first)
		first->place = &own.next;
	first = &own;
	pthread_mutex_unlock(&lock);
}

void liveness_end(void)
{
	if (!own.thread)
		return;
	pthread_mutex_lock(&lock);
	*own.place = own.next;
	if (own.next)
		own.next->place = own.place;
	pthread_mutex_unlock(&lock);
	own.thread = NULL;
}

void liveness_step(const char *doing)
{
	own.doing = doing;
	liveness_advance();
}

void liveness_advance(void)
{
	if (own.thread)
		own.advanced_ns = clock_monotonic_ns();
}

int liveness_wait_ms(uint64_t left_ms)
{
	uint64_t most_ms = own.thread ? LIVENESS_WAIT_MS : INT32_MAX;

	liveness_advance();
	return (int)(left_ms < most_ms ? left_ms : most_ms);
}

/* Not pthread_clockjoin_np(), which ThreadSanitizer does not know, nor pthread_timedjoin_np(),
 * whose clock can be set back. clock_sleep_ms() advances. */
void liveness_join(pthread_t thread)
{
	while (pthread_tryjoin_np(thread, NULL) == EBUSY)
		clock_sleep_ms(JOIN_POLL_MS);
}

bool liveness_check(struct err *why)
{
	const struct watched *hung = NULL;
	uint64_t now_ns, longest_ns = LIVENESS_MS * NS_PER_MS;

	pthread_mutex_lock(&lock);
	now_ns = clock_monotonic_ns();
	for (const struct watched *at = first; at; at = at->next) {
		uint64_t advanced_ns = at->advanced_ns; /* it may have advanced since now_ns */

		if (now_ns > advanced_ns && now_ns - advanced_ns > longest_ns) {
			longest_ns = now_ns - advanced_ns;
			hung = at;
		}
	}
	if (hung) {
		const char *doing = hung->doing;

		err_set(why, ERR_TIMEOUT, "the %s thread has hung for %" PRIu64 " s%s%s",
			hung->thread, longest_ns / NS_PER_SECOND, doing ? ": " : "",
			doing ? doing : "");
	}
	pthread_mutex_unlock(&lock);
	return !hung;
}
