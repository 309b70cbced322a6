// SPDX-License-Identifier: Apache-2.0
#include "base/cond.h"

#include "base/clock.h"

bool cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t deadline_ns)
{
	struct timespec until = clock_timespec(deadline_ns);

	return pthread_cond_clockwait(cond, lock, CLOCK_MONOTONIC, &until) == 0;
}
