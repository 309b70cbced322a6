// SPDX-License-Identifier: Apache-2.0
#include "store/read/sample_reader.h"

#include "profile/profile_type.h"
#include "store/chunk/chunk_decode.h"
#include "store/limits.h"
#include "store/read/rollup_choice_internal.h"
#include "store/read/sample_gaps_internal.h"
#include "store/read/step_sums_internal.h"
#include "store/scan/row_scan.h"

#include <assert.h>

/* A running query for samples. */
struct sample_query {
	const struct store_parallel_readers *group;
	const struct store_sink *sinks;
	const struct store_query *query;
	const struct rollup_choice *choice;
	struct store_window window;
	bool everything; /* every series of the selector's type matches; `matched` is empty */
	struct matched_series matched;
};

/* The plan for the query's window. kinds: the sums of whole hours that suffice. */
static struct scan_plan plan_of(const struct sample_query *query, const int32_t *kinds,
				size_t kind_count, unsigned int without)
{
	struct scan_plan plan =
		scan_plan_make(query->window.start_ms, query->window.end_ms, kinds, kind_count);

	plan.selector = query->query->selector;
	plan.keeps_candidates = query->sinks->on_candidates;
	plan.without = without;
	plan.steps_start_ms = query->query->projection.steps_start_ms;
	if (query->everything)
		return plan; /* only the payload has the type of a series: no steps */
	plan.series = &query->matched;
	plan.buckets = query->matched.buckets;
	if (without & CHUNK_NO_LABELS && !plan.keeps_candidates)
		plan.step_ms = query->choice->needs.step_ms;
	return plan;
}

static bool read_rows(const struct sample_query *query, const struct scan_plan *plan,
		      struct err *err)
{
	struct row_scan scan = {
		.readers = query->group->readers,
		.reader_count = query->group->count,
		.plan = plan,
		.sinks = query->sinks,
	};
	struct step_sums steps = {
		.plan = plan,
		.sink = query->sinks,
		.stats = &query->group->readers->stats,
	};

	while (row_scan_next(&scan))
		if (!plan->step_ms || !step_sums_add(&steps, &scan.directory))
			row_scan_take(&scan);
	return step_sums_end(&steps, row_scan_end(&scan, err), err);
}

static bool find_series(struct sample_query *query, const struct store_window *window,
			struct err *err)
{
	return series_find(query->group->readers, query->query->selector, window, &query->matched,
			   err);
}

/* Finds series on the days of the plan, one range of consecutive days at a time. */
static bool find_on_days(struct sample_query *query, const struct scan_plan *plan, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct store_window window = query->window;
	int64_t *days = NULL;
	size_t count = 0;

	if (!row_scan_days(query->group->readers, plan, &arena, &days, &count, err))
		return false;
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && days[end] == days[end - 1] + 1; end++)
			;
		window.first_day = days[i];
		window.last_day = days[end - 1];
		if (!find_series(query, &window, err))
			return false;
	}
	return true;
}

/*
 * Reads whole hours and days from sums without instances. Only the remainder of the window needs
 * series, and finding them is expensive: many hosts have many series per day.
 */
static bool read_fleet_sums(struct sample_query *query, struct err *err)
{
	static const int32_t alone[] = { ROLLUP_ALONE }, fleet[] = { ROLLUP_FLEET };
	const struct query_needs *needs = &query->choice->needs;
	struct scan_plan plan = plan_of(query, alone, ARRAY_LEN(alone), 0);

	if (needs->daily_sums)
		scan_plan_use_days(&plan);
	plan.buckets = NULL; /* not known yet */
	if (!query->everything && !find_on_days(query, &plan, err))
		return false;
	if (query->everything || query->matched.by_id.len) {
		plan = plan_of(query, alone, ARRAY_LEN(alone),
			       rollup_choice_without(query->choice, &query->matched));
		if (needs->daily_sums)
			scan_plan_use_days(&plan);
		if (!read_rows(query, &plan, err))
			return false;
	}
	rollup_choice_fleet(query->query->selector, &query->matched);
	plan = plan_of(query, fleet, ARRAY_LEN(fleet), needs->stacks ? 0 : CHUNK_NO_STACKS);
	plan.sums_alone = true;
	if (needs->daily_sums)
		scan_plan_use_days(&plan);
	return sample_gaps_find(query->group->readers, &plan, err) && read_rows(query, &plan, err);
}

static bool read_by_series(struct sample_query *query, struct err *err)
{
	int32_t kinds[ROLLUP_KIND_COUNT];

	if (!query->everything && !find_series(query, &query->window, err))
		return false;
	if (!query->everything && query->matched.by_id.len == 0)
		return true;

	size_t kind_count =
		rollup_choice_kinds(query->query, query->choice, &query->matched, kinds);
	struct scan_plan plan = plan_of(query, kinds, kind_count,
					rollup_choice_without(query->choice, &query->matched));

	return sample_gaps_find(query->group->readers, &plan, err) && read_rows(query, &plan, err);
}

/*
 * A query for all CPU time without any label does not need to find a million series. This does not
 * pay for other types: most rows do not have them, and only the series ids reveal that.
 */
static bool matches_every_series(const struct store_query *query, const struct query_needs *needs,
				 const struct store_sink *sink)
{
	return !needs->sample_labels && !needs->series_labels &&
	       query->projection.label_count == 0 && !sink->on_candidates &&
	       query->selector->matcher_count == 0 &&
	       str_eq(query->selector->type, STR(PROFILE_TYPE_CPU));
}

bool store_parallel_samples(const struct store_parallel_readers *group,
			    const struct store_query *query, const struct store_sink *sinks,
			    struct err *err)
{
	AUTO_ARENA arena = { 0 };
	const struct query_needs needs = query_needs_of(query);
	struct rollup_choice choice;
	struct sample_query state = {
		.group = group,
		.sinks = sinks,
		.query = query,
		.choice = &choice,
		.window = store_window_of(query->start_ms, query->end_ms),
		.everything = matches_every_series(query, &needs, sinks),
		.matched = { .arena = &arena,
			     .limits_series_labels = !needs.series_labels && !sinks->on_candidates,
			     .label_names = query->projection.label_names,
			     .label_count = query->projection.label_count },
	};

	assert(group->count > 0 && group->count <= READERS_MAX);
	group->readers->gap_count = 0;
	if (!rollup_choice_make(query, &state.window, group->readers, &arena, &choice, err))
		return false;
	return choice.is_fleet ? read_fleet_sums(&state, err) : read_by_series(&state, err);
}

bool store_reader_samples(struct store_reader *reader, const struct store_query *query,
			  const struct store_sink *sink, struct err *err)
{
	return store_parallel_samples(&(struct store_parallel_readers){ reader, 1 }, query, sink,
				      err);
}
