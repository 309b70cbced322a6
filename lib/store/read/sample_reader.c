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
	struct store_reader *leader;
	const struct store_sink *sinks;
	const struct store_query *query;
	struct rollup_choice choice;
	struct store_window window;
	bool everything; /* every series of the selector's type matches; `matched` is empty */
	struct matched_series matched;
	struct matched_series fleet; /* of sums without instances */
	/* Run one after the other; at most one of sums without instances, and one of the
	 * remainder. */
	struct scan_plan plans[2];
	size_t plan_count;
};

/* A plan for the window and these series. kinds: the sums of whole hours that suffice. */
static struct scan_plan plan_of(const struct sample_query *query,
				const struct matched_series *matched, const int32_t *kinds,
				size_t kind_count, unsigned int without)
{
	struct scan_plan plan =
		scan_plan_make(query->window.start_ms, query->window.end_ms, kinds, kind_count);

	if (query->choice.is_fleet && query->choice.needs.daily_sums)
		scan_plan_use_days(&plan);
	plan.selector = query->query->selector;
	plan.keeps_candidates = query->sinks->on_candidates;
	plan.without = without;
	plan.steps_start_ms = query->query->projection.steps_start_ms;
	if (query->everything)
		return plan; /* only the payload has the type of a series: no steps */
	plan.series = matched;
	plan.buckets = matched->buckets;
	if (without & CHUNK_NO_LABELS && !plan.keeps_candidates)
		plan.step_ms = query->choice.needs.step_ms;
	return plan;
}

static bool find_series(struct sample_query *query, const struct store_window *window,
			struct err *err)
{
	return series_find(query->leader, query->query->selector, window, &query->matched, err);
}

/* Finds series on the days of the plan, one range of consecutive days at a time. */
static bool find_on_days(struct sample_query *query, const struct scan_plan *plan, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct store_window window = query->window;
	int64_t *days = NULL;
	size_t count = 0;

	if (!row_scan_days(query->leader, plan, &arena, &days, &count, err))
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
 * Whole hours and days are read from sums without instances. Only the remainder of the window needs
 * series, and finding them is expensive: many hosts have many series per day.
 */
static bool plan_fleet_sums(struct sample_query *query, struct err *err)
{
	static const int32_t alone[] = { ROLLUP_ALONE }, fleet[] = { ROLLUP_FLEET };
	struct scan_plan plan = plan_of(query, &query->matched, alone, ARRAY_LEN(alone), 0);

	plan.buckets = NULL; /* not known yet */
	if (!query->everything && !find_on_days(query, &plan, err))
		return false;
	if (query->everything || query->matched.by_id.len)
		query->plans[query->plan_count++] =
			plan_of(query, &query->matched, alone, ARRAY_LEN(alone),
				rollup_choice_without(&query->choice, &query->matched));
	rollup_choice_fleet(query->query->selector, &query->fleet);
	plan = plan_of(query, &query->fleet, fleet, ARRAY_LEN(fleet),
		       query->choice.needs.stacks ? 0 : CHUNK_NO_STACKS);
	plan.sums_alone = true;
	query->plans[query->plan_count++] = plan;
	return sample_gaps_find(query->leader, &plan, err);
}

static bool plan_by_series(struct sample_query *query, struct err *err)
{
	/* Borrowed by the plan. */
	int32_t *kinds = arena_array(query->matched.arena, int32_t, ROLLUP_KIND_COUNT);

	if (!query->everything && !find_series(query, &query->window, err))
		return false;
	if (!query->everything && query->matched.by_id.len == 0)
		return true;

	size_t count = rollup_choice_kinds(query->query, &query->choice, &query->matched, kinds);

	query->plans[query->plan_count++] =
		plan_of(query, &query->matched, kinds, count,
			rollup_choice_without(&query->choice, &query->matched));
	return sample_gaps_find(query->leader, &query->plans[0], err);
}

static bool run_plan(struct store_reader *readers, size_t reader_count,
		     const struct scan_plan *plan, const struct store_sink *sinks, struct err *err)
{
	struct row_scan scan = {
		.readers = readers, .reader_count = reader_count, .plan = plan, .sinks = sinks
	};
	struct step_sums steps = { .plan = plan, .sink = sinks, .stats = &readers->stats };

	while (row_scan_next(&scan))
		if (!plan->step_ms || !step_sums_add(&steps, &scan.directory))
			row_scan_take(&scan);
	return step_sums_end(&steps, row_scan_end(&scan, err), err);
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

bool store_reader_samples(struct store_reader *readers, size_t reader_count,
			  const struct store_query *query, const struct store_sink *sinks,
			  struct err *err)
{
	AUTO_ARENA arena = { 0 };
	const struct query_needs needs = query_needs_of(query);
	struct sample_query state = {
		.leader = readers,
		.sinks = sinks,
		.query = query,
		.window = store_window_of(query->start_ms, query->end_ms),
		.everything = matches_every_series(query, &needs, sinks),
		.matched = { .arena = &arena,
			     .limits_series_labels = !needs.series_labels && !sinks->on_candidates,
			     .label_names = query->projection.label_names,
			     .label_count = query->projection.label_count },
		.fleet.arena = &arena,
	};

	assert(reader_count > 0 && reader_count <= READERS_MAX);
	readers->gap_count = 0;
	if (!rollup_choice_make(query, &state.window, readers, &arena, &state.choice, err) ||
	    !(state.choice.is_fleet ? plan_fleet_sums : plan_by_series)(&state, err))
		return false;
	for (size_t i = 0; i < state.plan_count; i++)
		if (!run_plan(readers, reader_count, &state.plans[i], sinks, err))
			return false;
	return true;
}
