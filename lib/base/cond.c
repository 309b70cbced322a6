// SPDX-License-Identifier: Apache-2.0
#include "base/cond.h"

#include "base/clock.h"
#include "base/liveness.h"

bool cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t deadline_ns)
{
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t left_ms = deadline_ns > now_ns ? (deadline_ns - now_ns) / NS_PER_MS + 1 : 0;
	uint64_t part_ns = now_ns + (uint64_t)liveness_wait_ms(left_ms) * NS_PER_MS;
	bool is_part = part_ns < deadline_ns;
	struct timespec until = clock_timespec(is_part ? part_ns : deadline_ns);

	return pthread_cond_clockwait(cond, lock, CLOCK_MONOTONIC, &until) == 0 || is_part;
}
