// SPDX-License-Identifier: Apache-2.0
/*
 * metrics_parts - what metrics.c tells metrics_write.c.
 */
#pragma once

#include "chassis/metrics.h"

/* When the first metric was registered, which is when the process began. */
uint64_t metrics_start_unix_ns(void);
