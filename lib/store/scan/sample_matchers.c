// SPDX-License-Identifier: Apache-2.0
#include "store/scan/sample_matchers_internal.h"

/* Tests matchers on the label sets of one row, each combination once. */
struct label_test {
	const struct sample_set *set;
	const struct selector *selector;
	const struct store_bounds *bounds;
	uint32_t *tested, *matched; /* by label set: a bit per matcher */
};

static bool test_labels(struct label_test *test, uint32_t label_set, uint32_t open, struct err *err)
{
	uint32_t untested = open & ~test->tested[label_set];

	for (size_t i = 0; untested && i < test->selector->matcher_count; i++) {
		const struct matcher *matcher = &test->selector->matchers[i];
		bool matches;

		if (!(untested >> i & 1))
			continue;

		str value = labels_get(test->set->label_sets.items[label_set], matcher->name);

		/* An expression may take milliseconds per value. */
		if (!store_bounds_check(test->bounds, err) ||
		    !matcher_matches(matcher, value.ptr ? value : STR(""), &matches, err))
			return false;
		test->tested[label_set] |= UINT32_C(1) << i;
		test->matched[label_set] |= (uint32_t)matches << i;
	}
	return true;
}

bool sample_matchers_apply(const struct scan_plan *plan, const struct store_bounds *bounds,
			   struct sample_set *set, struct arena *arena, struct err *err)
{
	struct label_test test = { .set = set, .selector = plan->selector, .bounds = bounds };
	uint32_t *open = arena_array(arena, uint32_t, set->series.len);
	uint32_t any = 0;
	size_t kept = 0;

	if (!plan->selector || !plan->series)
		return true;
	for (size_t i = 0; i < set->series.len; i++) {
		const struct series_match *series =
			matched_series_get(plan->series, set->series.items[i].id);

		open[i] = series ? series->open : 0;
		any |= open[i];
	}
	if (!any)
		return true;
	test.tested = arena_array(arena, uint32_t, set->label_sets.len);
	test.matched = arena_array(arena, uint32_t, set->label_sets.len);
	for (size_t i = 0; i < set->samples.len; i++) {
		struct sample sample = set->samples.items[i];

		if (!test_labels(&test, sample.labels, open[sample.series], err))
			return false;
		if ((open[sample.series] & ~test.matched[sample.labels]) == 0)
			set->samples.items[kept++] = sample;
	}
	set->samples.len = kept;
	return true;
}
