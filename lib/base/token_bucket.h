// SPDX-License-Identifier: Apache-2.0
/*
 * token_bucket - limits a rate: tokens come with time up to a burst, and each use takes some.
 *
 * The unit of a token is the caller's: a byte, a record, a nanosecond of CPU time. A bucket may be
 * overdrawn by one use; it is in debt then, and closed until time has paid for it.
 *
 *     token_bucket_refill(&bucket, RATE_PER_SECOND, BURST, now_ns);
 *     if (bucket.tokens > 0)
 *             bucket.tokens -= use();
 *
 * A zeroed struct is valid and full after its first refill. Pure: no failure, one thread at a time.
 */
#pragma once

#include "base/base.h"

struct token_bucket {
	int64_t tokens; /* below 0: debt */
	/* private */
	uint64_t refilled_ns; /* up to this moment tokens were added; 0: never */
};

/* Adds what the time since the last call allows, up to `burst`; parts of a token add up.
 * now_ns: CLOCK_MONOTONIC. `rate`: tokens per second; burst: at most INT64_MAX / 2. */
void token_bucket_refill(struct token_bucket *bucket, uint64_t rate, int64_t burst,
			 uint64_t now_ns);
