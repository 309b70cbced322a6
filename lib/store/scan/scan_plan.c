// SPDX-License-Identifier: Apache-2.0
#include "store/scan/scan_plan.h"

#include "base/clock.h"
#include "store/compact/rollup.h"

/* The whole units of time within the range. */
static struct scan_range whole(struct scan_range range, uint64_t unit_ms)
{
	return (struct scan_range){ (range.start_ms + unit_ms - 1) / unit_ms * unit_ms,
				    range.end_ms / unit_ms * unit_ms };
}

static bool is_empty(struct scan_range range)
{
	return range.start_ms >= range.end_ms;
}

struct scan_plan scan_plan_make(uint64_t start_ms, uint64_t end_ms, const int32_t *kinds,
				size_t kind_count)
{
	uint64_t start_hour_ms = start_ms - start_ms % MS_PER_HOUR;
	struct scan_plan plan = {
		.window = { start_ms, end_ms },
		.days = { INT64_MAX, INT64_MAX },
		.kinds = kinds,
		.kind_count = kind_count,
	};

	plan.hours = whole(plan.window, MS_PER_HOUR);
	if (kind_count == 0 || is_empty(plan.hours))
		plan.hours = (struct scan_range){ start_hour_ms, start_hour_ms };
	return plan;
}

struct scan_plan scan_plan_make_series(uint64_t start_ms, uint64_t end_ms)
{
	static const int32_t kinds[] = { ROLLUP_GAUGES, ROLLUP_ALONE, ROLLUP_SERIES };

	return scan_plan_make(start_ms, end_ms, kinds, ARRAY_LEN(kinds));
}

void scan_plan_use_days(struct scan_plan *plan)
{
	struct scan_range days = whole(plan->window, MS_PER_DAY);

	if (!is_empty(plan->hours) && !is_empty(days))
		plan->days = days;
}

uint32_t scan_plan_sources(const struct scan_plan *plan)
{
	const uint32_t hours = 1U << SCAN_NOT_SUMMED | 1U << SCAN_BEFORE_HOURS;
	uint32_t sources = 1U << SCAN_FROM_HOURS | 1U << SCAN_RAW | 1U << SCAN_RAW_LATE;

	if (plan->sums_alone)
		sources = 0;
	if (is_empty(plan->hours))
		return sources;
	sources |= 1U << SCAN_HOUR_SUMS;
	if (plan->sums_alone)
		return is_empty(plan->days) ? sources : sources | 1U << SCAN_DAY_SUMS;
	return sources | hours | (plan->kinds[0] == ROLLUP_GAUGES ? 1U << SCAN_GAUGES : 0);
}

void scan_plan_remainder(const struct scan_plan *plan, struct scan_range ret_parts[2])
{
	bool has_hours = !is_empty(plan->hours);

	ret_parts[0] =
		(struct scan_range){ plan->window.start_ms,
				     has_hours ? plan->hours.start_ms : plan->window.end_ms };
	ret_parts[1] = (struct scan_range){ has_hours ? plan->hours.end_ms : plan->window.end_ms,
					    plan->window.end_ms };
}

/* Bit i: matcher i of the selector requires a label that no sample of the row has. */
static uint32_t matchers_without_label(const struct selector *selector,
				       const struct chunk_directory *directory)
{
	uint32_t never = 0;

	for (size_t i = 0; i < selector->matcher_count; i++) {
		const struct matcher *matcher = &selector->matchers[i];
		bool is_there = matcher_matches_empty(matcher);

		for (size_t j = 0; !is_there && j < directory->name_count; j++)
			is_there = str_eq(directory->names[j], matcher->name);
		never |= (uint32_t)!is_there << i;
	}
	return never;
}

bool scan_plan_wants(const struct scan_plan *plan, const struct chunk_directory *directory,
		     bool *ret_series)
{
	uint32_t never = plan->selector && !plan->keeps_candidates
				 ? matchers_without_label(plan->selector, directory)
				 : 0;
	bool any = false;

	for (size_t i = 0; i < directory->series_count; i++) {
		const struct directory_series *entry = &directory->series[i];

		if (entry->first_ms >= plan->window.end_ms ||
		    entry->last_ms < plan->window.start_ms)
			continue;

		const struct series_match *series =
			plan->series ? matched_series_get(plan->series, entry->id) : NULL;

		ret_series[i] =
			!plan->series || (series && !series->is_found && !(series->open & never));
		any = any || ret_series[i];
	}
	return any;
}

bool scan_plan_series(void *self, uint64_t id, str type, struct labels *ret_labels)
{
	const struct scan_plan *plan = self;

	*ret_labels = (struct labels){ 0 };
	if (!plan->series)
		return !plan->selector || str_eq(plan->selector->type, type);

	const struct series_match *series = matched_series_get(plan->series, id);

	if (!series || series->is_found || !str_eq(series->type, type))
		return false;
	*ret_labels = series->labels;
	return true;
}
