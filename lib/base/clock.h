// SPDX-License-Identifier: Apache-2.0
/*
 * clock - the current time, in nanoseconds. Any thread; no function fails.
 */
#pragma once

#include "base/base.h"

#define NS_PER_SECOND UINT64_C(1000000000)
#define NS_PER_MS     UINT64_C(1000000)
#define MS_PER_HOUR   UINT64_C(3600000)
#define MS_PER_DAY    UINT64_C(86400000)

/* Nanoseconds since 1970-01-01 UTC: for timestamps that users or other hosts see. May jump. */
uint64_t clock_unix_ns(void);

/* CLOCK_MONOTONIC, never goes backwards: for deadlines, durations and kernel timestamps. */
uint64_t clock_monotonic_ns(void);

/* CPU time of this process so far, user and system. */
uint64_t clock_cpu_ns(void);

/* Sleep. A signal may end the sleep early; the caller is not informed. */
void clock_sleep_ms(uint64_t ms);
