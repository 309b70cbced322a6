// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_type.h"
#include "store/chunk/chunk_decode.h"
#include "store/compact/rollup_fleet.h"
#include "store/read/rollup_choice_internal.h"

static bool is_among(str name, const str *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(name, names[i]))
			return true;
	return false;
}

static bool is_gauge(const struct store_query *query)
{
	return profile_type_temporality(query->selector->type) == TEMPORALITY_GAUGE;
}

/* of_samples: the names of labels that samples of these days have. */
static bool fleet_suffices(const struct store_query *query, const struct query_needs *needs,
			   const struct store_window *window, const str *of_samples, size_t count)
{
	const struct store_projection *projection = &query->projection;
	const struct selector *selector = query->selector;
	uint64_t first_hour = (window->start_ms + MS_PER_HOUR - 1) / MS_PER_HOUR;

	if (!needs->hourly_sums || needs->series_labels || is_gauge(query) ||
	    first_hour >= window->end_ms / MS_PER_HOUR)
		return false;
	for (size_t i = 0; i < selector->matcher_count; i++)
		if (rollup_fleet_lacks(selector->matchers[i].name) ||
		    is_among(selector->matchers[i].name, of_samples, count))
			return false;
	for (size_t i = 0; i < projection->label_count; i++)
		if (rollup_fleet_lacks(projection->label_names[i]) ||
		    is_among(projection->label_names[i], of_samples, count))
			return false;
	return true;
}

bool rollup_choice_make(const struct store_query *query, const struct store_window *window,
			struct store_reader *reader, struct arena *arena,
			struct rollup_choice *ret_choice, struct err *err)
{
	const struct store_projection *projection = &query->projection;
	struct rollup_choice choice = { .needs = query_needs_of(query) };
	str *of_samples = NULL;
	size_t count = 0, kept = 0;
	str *names = arena_array(arena, str, projection->label_count);

	if (query->selector->matcher_count + projection->label_count &&
	    !sample_label_names(&reader->pg, window->first_day, window->last_day, arena,
				&of_samples, &count, err))
		return false;
	for (size_t i = 0; i < projection->label_count; i++)
		if (is_among(projection->label_names[i], of_samples, count))
			names[kept++] = projection->label_names[i];
	choice.is_fleet = fleet_suffices(query, &choice.needs, window, of_samples, count);
	choice.label_names = names;
	choice.label_count = kept;
	*ret_choice = choice;
	return true;
}

/* True if labels of the series satisfy the matchers and the projection. */
static bool series_suffices(const struct rollup_choice *choice, const struct series_match *series)
{
	if (series->open)
		return false;
	for (size_t i = 0; i < choice->label_count; i++)
		if (!labels_get(series->labels, choice->label_names[i]).ptr)
			return false;
	return true;
}

unsigned int rollup_choice_without(const struct rollup_choice *choice,
				   const struct matched_series *matched)
{
	unsigned int stacks = choice->needs.stacks ? 0 : CHUNK_NO_STACKS;

	if (choice->needs.sample_labels)
		return stacks;
	map_for_each(&matched->by_id, slot) {
		if (!series_suffices(choice, slot->value))
			return stacks;
	}
	return stacks | CHUNK_NO_LABELS;
}

/* Sums of gauges are by process: they have `pid` in addition to the labels of the series. */
static bool process_suffices(const struct rollup_choice *choice, const struct selector *selector,
			     const struct series_match *series)
{
	for (size_t i = 0; i < selector->matcher_count; i++)
		if (series->open >> i & 1 && !str_eq(selector->matchers[i].name, STR("pid")))
			return false;
	for (size_t i = 0; i < choice->label_count; i++)
		if (!str_eq(choice->label_names[i], STR("pid")) &&
		    !labels_get(series->labels, choice->label_names[i]).ptr)
			return false;
	return true;
}

size_t rollup_choice_kinds(const struct store_query *query, const struct rollup_choice *choice,
			   const struct matched_series *matched,
			   int32_t ret_kinds[ROLLUP_KIND_COUNT])
{
	size_t count = 0;

	if (!choice->needs.hourly_sums)
		return 0;
	if (is_gauge(query)) {
		map_for_each(&matched->by_id, slot) {
			if (!process_suffices(choice, query->selector, slot->value))
				return 0;
		}
		ret_kinds[count++] = ROLLUP_GAUGES;
	} else if (rollup_choice_without(choice, matched) & CHUNK_NO_LABELS) {
		ret_kinds[count++] = ROLLUP_ALONE;
		ret_kinds[count++] = ROLLUP_SERIES;
	}
	return count;
}

void rollup_choice_fleet(const struct selector *selector, struct matched_series *matched)
{
	struct series_match *series = arena_new(matched->arena, struct series_match);
	uint64_t id = rollup_fleet_series(selector->type, matched->arena);
	struct label service = { STR("service_name"), { 0 } };

	matched->by_id.arena = matched->arena;
	series->type = selector->type;
	for (size_t i = 0; i < selector->matcher_count; i++) {
		const struct matcher *matcher = &selector->matchers[i];

		series->open |= UINT32_C(1) << i;
		if (matcher->op == MATCH_EQ && str_eq(matcher->name, service.name))
			service.value = matcher->value;
	}
	*map_at(&matched->by_id, str_copy(matched->arena, (str){ (const char *)&id, sizeof(id) })) =
		series;
	if (service.value.len)
		matched->buckets[series_bucket((struct labels){ &service, 1 })] = true;
	else
		memset(matched->buckets, true, sizeof(matched->buckets));
}
