// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "store/read/query_match_internal.h"

bool query_match_find(struct query_match *match, struct store_reader *reader, struct err *err)
{
	uint64_t began_ns = clock_monotonic_ns();
	bool good = series_find(reader, match->selector, &match->window, &match->matched, err);

	reader->stats.find_ns += clock_monotonic_ns() - began_ns;
	reader->stats.series += match->matched.by_id.len;
	return good;
}

uint32_t query_match_never(const struct selector *selector, const struct chunk_directory *directory)
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

bool query_match_series(void *self, uint64_t id, str type, struct labels *ret_labels)
{
	const struct query_match *match = self;
	const struct series_match *series = matched_series_get(&match->matched, id);

	if (match->everything) {
		*ret_labels = (struct labels){ 0 };
		return str_eq(match->selector->type, type);
	}
	if (!series || !str_eq(series->type, type))
		return false;
	*ret_labels = series->labels;
	return true;
}

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

bool query_match_samples(const struct query_match *match, struct sample_set *set,
			 struct arena *arena, struct err *err)
{
	struct label_test test = { .set = set,
				   .selector = match->selector,
				   .bounds = match->bounds };
	uint32_t *open = arena_array(arena, uint32_t, set->series.len);
	uint32_t any = 0;
	size_t kept = 0;

	for (size_t i = 0; i < set->series.len; i++) {
		const struct series_match *series =
			matched_series_get(&match->matched, set->series.items[i].id);

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
