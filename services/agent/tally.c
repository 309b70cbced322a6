// SPDX-License-Identifier: Apache-2.0
#include "tally.h"

const char *const loss_names[LOSS_COUNT] = {
	[LOSS_RING_FULL] = "ring_full",
	[LOSS_TIMELINE_FULL] = "timeline_full",
	[LOSS_MALFORMED] = "malformed",
	[LOSS_SPOOL_WRITE] = "spool_write",
};

/* anchor + counted - told, unless that is below 0 or beyond what can be. */
static bool count_untold(uint64_t anchor, uint64_t counted, uint64_t told, uint64_t *ret_untold)
{
	uint64_t all;

	if (__builtin_add_overflow(anchor, counted, &all) || all < told)
		return false;
	*ret_untold = all - told;
	return true;
}

bool tally_untold(const struct tally *anchor, const struct tally *counted, const struct tally *told,
		  struct tally *ret_untold)
{
	struct tally untold;
	uint64_t left;

	if (!count_untold(anchor->taken, counted->taken, told->taken, &untold.taken))
		return false;
	left = untold.taken;
	for (size_t i = 0; i < LOSS_COUNT; i++)
		if (!count_untold(anchor->lost[i], counted->lost[i], told->lost[i],
				  &untold.lost[i]) ||
		    __builtin_sub_overflow(left, untold.lost[i], &left))
			return false;
	*ret_untold = untold;
	return true;
}

uint64_t tally_rest(const struct tally *tally)
{
	uint64_t rest = tally->taken;

	for (size_t i = 0; i < LOSS_COUNT; i++)
		rest -= tally->lost[i];
	return rest;
}
