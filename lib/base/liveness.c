// SPDX-License-Identifier: Apache-2.0
#include "base/liveness.h"

#include "base/base_limits.h"
#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>

struct watched {
	const char *thread;        /* NULL: the thread is not watched */
	const char *_Atomic doing; /* NULL: not said */
	_Atomic uint64_t advanced_ns;
	struct watched *next;
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
	first = &own;
	pthread_mutex_unlock(&lock);
}

void liveness_end(void)
{
	struct watched **at = &first;

	if (!own.thread)
		return;
	pthread_mutex_lock(&lock);
	while (*at != &own)
		at = &(*at)->next;
	*at = own.next;
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

/* Not pthread_clockjoin_np(), which ThreadSanitizer does not know. If the clock is set back, a wait
 * is longer, but it ends with the thread. */
void liveness_join(pthread_t thread)
{
	struct timespec until;

	do
		until = clock_timespec(clock_unix_ns() +
				       (uint64_t)liveness_wait_ms(LIVENESS_WAIT_MS) * NS_PER_MS);
	while (pthread_timedjoin_np(thread, NULL, &until) == ETIMEDOUT);
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
