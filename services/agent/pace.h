// SPDX-License-Identifier: Apache-2.0
/*
 * pace - how fast the spool is emptied, so that a fleet whose Kafka comes back does not bury it.
 *
 * Two bounds. Bytes per second: what was not used is kept for one second, and one batch may always
 * go, to be paid for afterwards. And a window: batches that may be on their way at once, one at
 * first, twice as many with each that arrives, and one again when none has arrived for a while; so
 * what meets a Kafka that has just come back is one batch of each host, not all that fits into
 * the producer's queue. Pure; times are CLOCK_MONOTONIC.
 */
#pragma once

#include "base/base.h"

enum { PACE_WINDOW_MAX = 16 };

enum pace_verdict {
	PACE_GO,
	PACE_TOO_FAST,    /* for the bytes per second */
	PACE_WINDOW_FULL, /* as many are on their way as may be */
	PACE_VERDICT_COUNT,
};

struct pace {
	uint64_t rate; /* bytes per second that hold now; 0: no bound */
	/* private */
	uint64_t option_rate;
	int64_t room; /* bytes that may go at once; below 0: to be paid for */
	uint64_t refilled_ns, delivered_ns;
	size_t window;
};

/* `rate` 0: no bound on bytes. */
void pace_init(struct pace *pace, uint64_t rate, uint64_t now_ns);

/*
 * May one more go? `live_rate` is the bytes per second that come in: the bound is never below twice
 * as many, so that what waits always becomes less.
 */
enum pace_verdict pace_check(struct pace *pace, uint64_t live_rate, size_t in_flight,
			     uint64_t now_ns);

void pace_sent(struct pace *pace, uint64_t bytes);
void pace_delivered(struct pace *pace, uint64_t now_ns);

/* A pause of at most ms and at least half of it: hosts that failed together do not try together. */
uint64_t pace_jitter(uint64_t ms);
