// SPDX-License-Identifier: Apache-2.0
/*
 * progress - whether the consumer thread stores what Kafka has.
 *
 * The consumer thread says when it has made progress; HTTP threads read it. A thread that turns
 * without progress is not noticed by base/liveness.h. Times are those of clock_monotonic_ns(). Any
 * thread.
 */
#pragma once

#include "base/base.h"

struct progress {
	_Atomic uint64_t made_ns; /* private */
};

/* Messages were stored, or there are none left. */
void progress_made(struct progress *progress, uint64_t now_ns);

/* True if there was no progress for limit_ms. */
bool progress_is_stalled(const struct progress *progress, uint64_t now_ns, uint64_t limit_ms);
