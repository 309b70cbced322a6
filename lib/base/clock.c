// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"

#include "base/liveness.h"

static uint64_t now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return clock_timespec_ns(ts);
}

uint64_t clock_unix_ns(void)
{
	return now(CLOCK_REALTIME);
}

uint64_t clock_monotonic_ns(void)
{
	return now(CLOCK_MONOTONIC);
}

uint64_t clock_cpu_ns(void)
{
	return now(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t clock_thread_cpu_ns(void)
{
	return now(CLOCK_THREAD_CPUTIME_ID);
}

void clock_sleep_ms(uint64_t ms)
{
	uint64_t part_ms;
	struct timespec ts;

	do {
		part_ms = (uint64_t)liveness_wait_ms(ms);
		ms -= part_ms;
		ts = clock_timespec(part_ms * NS_PER_MS);
	} while (nanosleep(&ts, NULL) == 0 && ms);
}
