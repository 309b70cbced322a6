// SPDX-License-Identifier: Apache-2.0
#include "found.h"

#include "base/clock.h"
#include "profile/profile_type.h"

/* The merges of all connections into the first. */
static bool add_up(struct merge *merges, size_t count, struct err *err)
{
	for (size_t i = 1; i < count; i++) {
		if (!merge_join(&merges[0], &merges[i], err))
			return false;
		arena_free(merges[i].arena);
		memory_held(&merges[i].share, 0);
	}
	return true;
}

static bool read_merged(struct found *found, struct question *question,
			const struct found_options *options, struct err *err)
{
	const struct selector *selector = options->selector;
	bool is_gauge = profile_type_temporality(selector->type) == TEMPORALITY_GAUGE;
	size_t count = question->api->connections;
	struct store_sink sinks[READERS_MAX];

	for (size_t i = 0; i < count; i++) {
		struct merge *merge = &found->merges[i];

		merge_init(merge, selector->type, options->group_by, options->memory_max,
			   &found->arenas[i]);
		merge_share(merge, &found->memory);
		if (is_gauge)
			merge_gauge(merge);
		sinks[i] = (struct store_sink){ .take = merge_take,
						.see = is_gauge ? merge_see : NULL,
						.self = merge };
	}
	found->merge = &found->merges[0];
	question->needs = (struct store_needs){ .no_times = true,
						.no_hours = true,
						.some_labels = !is_gauge,
						.few_labels = true,
						.label_names = options->group_by->names,
						.label_count = options->group_by->len };
	return question_read(question, selector, sinks, err) && add_up(found->merges, count, err) &&
	       (!is_gauge || merge_average(found->merge, &question->window, err));
}

/* Without anybody to ask, addresses stay what they are. */
static bool give_names(struct found *found, struct question *question,
		       const struct found_options *options, struct err *err)
{
	const struct merge *merge = &found->merges[0];
	uint64_t began_ns = clock_monotonic_ns();
	bool named;

	if (!question->api->namer.source.ask)
		return true;
	if (!name_search_run(&found->search, &question->api->namer, &found->merges[0],
			     &question->bounds, err))
		return false;

	const struct name_options given = { found->search.names, options->keep_addresses };

	merge_init(&found->named, options->selector->type, merge->group_by, merge->memory_max,
		   question->req->arena);
	merge_share(&found->named, &found->memory);
	named = name_merge(&found->named, merge, &given, err);
	found->merge = &found->named;
	question->stats.names = found->search.stats;
	question->stats.names.ns = clock_monotonic_ns() - began_ns;
	return named;
}

bool found_read(struct found *found, struct question *question, const struct found_options *options,
		struct err *err)
{
	if (!read_merged(found, question, options, err) ||
	    !give_names(found, question, options, err))
		return false;
	found->warning_count = question_warnings(question, found->warnings);
	for (size_t i = 0; i < found->search.warning_count; i++)
		found->warnings[found->warning_count++] = found->search.warnings[i];
	return true;
}

size_t found_held(const struct found *found)
{
	size_t held = found->search.arena.held;

	for (size_t i = 0; i < READERS_MAX; i++)
		held += found->arenas[i].held;
	return held;
}

void found_done(struct found *found)
{
	name_search_done(&found->search);
	for (size_t i = 0; i < READERS_MAX; i++)
		arena_free(&found->arenas[i]);
}
