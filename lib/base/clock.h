// SPDX-License-Identifier: Apache-2.0
/*
 * clock - what time it is, in nanoseconds.
 */
#pragma once

#include "base/base.h"

#define NS_PER_SECOND UINT64_C(1000000000)
#define NS_PER_MS     UINT64_C(1000000)
#define MS_PER_HOUR   UINT64_C(3600000)
#define MS_PER_DAY    UINT64_C(86400000)

/* Since 1970, UTC: what people and other machines mean by time. It may jump. */
uint64_t clock_unix_ns(void);

/* Since some moment in the past, never backwards: for deadlines, durations and kernel stamps. */
uint64_t clock_monotonic_ns(void);

/* CPU time of this process, user and system. */
uint64_t clock_cpu_ns(void);

void clock_sleep_ms(uint64_t ms);
