// SPDX-License-Identifier: Apache-2.0
/*
 * pace - limits how fast the spool is emptied, so that a fleet does not overload a Kafka that has
 * just come back.
 *
 * Two limits. A token bucket of bytes per second: unused tokens are kept for one second, and one
 * batch may always go and put the bucket into debt. And a window of batches in flight: one at
 * first, doubled with each delivery, and one again after two seconds without a delivery. So a Kafka
 * that has just come back receives one batch of each host, not a full producer queue of each host.
 * Pure: no I/O, no failure, one thread at a time. Times are CLOCK_MONOTONIC, in ns.
 */
#pragma once

#include "base/token_bucket.h"

enum { PACE_WINDOW_MAX = 16 };

enum pace_verdict {
	PACE_GO,
	PACE_TOO_FAST,    /* the bucket is in debt */
	PACE_WINDOW_FULL, /* wait for a delivery */
	PACE_VERDICT_COUNT,
};

struct pace {
	uint64_t rate; /* the current limit in bytes per second; 0: unlimited */
	/* private */
	uint64_t option_rate;
	struct token_bucket bytes;
	uint64_t delivered_ns;
	size_t window;
};

/* `rate` in bytes per second; 0: unlimited. */
void pace_init(struct pace *pace, uint64_t rate, uint64_t now_ns);

/*
 * Decides whether one more batch may be sent. `live_rate` is the rate in bytes per second at which
 * batches are put into the spool: the limit is at least twice that rate, so that the backlog
 * shrinks. in_flight: batches.
 */
enum pace_verdict pace_check(struct pace *pace, uint64_t live_rate, size_t in_flight,
			     uint64_t now_ns);

/* A batch of `bytes` bytes was sent. */
void pace_sent(struct pace *pace, uint64_t bytes);

/* A batch was acknowledged. */
void pace_delivered(struct pace *pace, uint64_t now_ns);

/* A random pause from ms / 2 to ms, so that hosts which failed together do not retry together. Any
 * thread. */
uint64_t pace_jitter(uint64_t ms);
