// SPDX-License-Identifier: Apache-2.0
/*
 * clock - the current time, in nanoseconds. Any thread; no function fails.
 */
#pragma once

#include "base/base.h"

#include <time.h>

#define NS_PER_SECOND UINT64_C(1000000000)
#define NS_PER_MS     UINT64_C(1000000)
#define MS_PER_HOUR   UINT64_C(3600000)
#define MS_PER_DAY    UINT64_C(86400000)

/* The same time in both forms. No negative times. */
static inline struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_SECOND),
				  .tv_nsec = (long)(ns % NS_PER_SECOND) };
}

static inline uint64_t clock_timespec_ns(struct timespec time)
{
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
}

/* Nanoseconds since 1970-01-01 UTC: for timestamps that users or other hosts see. May jump. */
uint64_t clock_unix_ns(void);

/* CLOCK_MONOTONIC, never goes backwards: for deadlines, durations and kernel timestamps. */
uint64_t clock_monotonic_ns(void);

/* CPU time of this process so far, user and system. */
uint64_t clock_cpu_ns(void);

/* CPU time of the calling thread so far, user and system. */
uint64_t clock_thread_cpu_ns(void);

/* Sleep. A signal may end the sleep early; the caller is not informed. */
void clock_sleep_ms(uint64_t ms);
