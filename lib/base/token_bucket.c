// SPDX-License-Identifier: Apache-2.0
#include "base/token_bucket.h"

#include "base/clock.h"

__extension__ typedef unsigned __int128 wide; /* a product of two numbers of 64 bits */

void token_bucket_refill(struct token_bucket *bucket, uint64_t rate, int64_t burst, uint64_t now_ns)
{
	wide fresh = (wide)(now_ns - bucket->refilled_ns) * rate / NS_PER_SECOND;

	if (!bucket->refilled_ns || bucket->tokens > burst ||
	    fresh >= (uint64_t)burst - (uint64_t)bucket->tokens) {
		bucket->tokens = burst;
		bucket->refilled_ns = now_ns;
	} else if (fresh) {
		bucket->tokens += (int64_t)fresh;
		/* the time of these tokens, rounded up */
		bucket->refilled_ns += (uint64_t)((fresh * NS_PER_SECOND + rate - 1) / rate);
	}
}
