// SPDX-License-Identifier: Apache-2.0
#include "agent/capture/loss_counters.h"

const char *const loss_names[LOSS_COUNT] = {
	[LOSS_RING_FULL] = "ring_full",
	[LOSS_TIMELINE_FULL] = "timeline_full",
	[LOSS_MALFORMED] = "malformed",
	[LOSS_SPOOL_WRITE] = "spool_write",
};

/* baseline + counted - reported. False: below 0, or an overflow. */
static bool subtract_reported(uint64_t baseline, uint64_t counted, uint64_t reported,
			      uint64_t *ret_unreported)
{
	uint64_t all;

	if (__builtin_add_overflow(baseline, counted, &all) || all < reported)
		return false;
	*ret_unreported = all - reported;
	return true;
}

bool loss_counters_unreported(const struct loss_counters *baseline,
			      const struct loss_counters *counted,
			      const struct loss_counters *reported,
			      struct loss_counters *ret_unreported)
{
	struct loss_counters unreported;
	uint64_t left;

	if (!subtract_reported(baseline->sampled, counted->sampled, reported->sampled,
			       &unreported.sampled))
		return false;
	left = unreported.sampled;
	for (size_t i = 0; i < LOSS_COUNT; i++)
		if (!subtract_reported(baseline->lost[i], counted->lost[i], reported->lost[i],
				       &unreported.lost[i]) ||
		    __builtin_sub_overflow(left, unreported.lost[i], &left))
			return false;
	*ret_unreported = unreported;
	return true;
}

uint64_t loss_counters_unexplained(const struct loss_counters *loss_counters)
{
	uint64_t unexplained = loss_counters->sampled;

	for (size_t i = 0; i < LOSS_COUNT; i++)
		unexplained -= loss_counters->lost[i];
	return unexplained;
}
