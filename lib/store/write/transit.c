// SPDX-License-Identifier: Apache-2.0
#include "store/write/transit.h"

static uint64_t less(uint64_t minuend, uint64_t subtrahend)
{
	return minuend > subtrahend ? minuend - subtrahend : 0;
}

void transit_add_new(struct transit *transit, const struct transit_batch *batch)
{
	uint64_t between = less(less(batch->spooled, batch->samples), transit->spooled);

	/* INT64_MAX: of the column. No real host comes close. */
	if (batch->skipped &&
	    (__builtin_add_overflow(transit->missing, between, &transit->missing) ||
	     transit->missing > INT64_MAX))
		transit->missing = INT64_MAX;
	transit->spooled = batch->spooled;
}

void transit_add_late(struct transit *transit, uint64_t samples)
{
	transit->missing = less(transit->missing, samples);
}

void transit_settle(struct transit *transit, const struct received_set *seen)
{
	if (seen->missing_count == 0 && seen->gap == 0)
		transit->missing = 0;
}

uint64_t transit_estimate(uint64_t sampled, uint64_t accounted, uint64_t spool_lost)
{
	uint64_t missing = less(sampled, accounted) + spool_lost;

	return missing < INT64_MAX ? missing : INT64_MAX;
}
