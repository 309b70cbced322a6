// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "profile/profile_type.h"
#include "store/read/query_needs_internal.h"

static const struct {
	bool stacks, all_labels, times, steps;
} levels[STORE_LEVEL_COUNT] = {
	[STORE_SAMPLES] = { .stacks = true, .all_labels = true, .times = true },
	[STORE_STACKS] = { .stacks = true },
	[STORE_SERIES_SUMS] = { .all_labels = true, .steps = true },
	[STORE_LABEL_SUMS] = { .steps = true },
};

/* True if no unit of time (hour, day) is in two steps, or only the whole window counts. */
static bool sums_suffice(const struct store_projection *projection, uint64_t unit_ms)
{
	if (levels[projection->level].times)
		return false;
	return !levels[projection->level].steps ||
	       (projection->steps_start_ms % unit_ms == 0 && projection->step_ms % unit_ms == 0);
}

struct query_needs query_needs_of(const struct store_query *query)
{
	const struct store_projection *projection = &query->projection;
	bool gauge = profile_type_temporality(query->selector->type) == TEMPORALITY_GAUGE;

	return (struct query_needs){
		.stacks = levels[projection->level].stacks,
		.sample_labels = levels[projection->level].times || gauge,
		.series_labels = levels[projection->level].all_labels,
		.hourly_sums = sums_suffice(projection, MS_PER_HOUR),
		.daily_sums = sums_suffice(projection, MS_PER_DAY),
		.step_ms = levels[projection->level].steps && !gauge ? projection->step_ms : 0,
	};
}
