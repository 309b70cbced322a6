// SPDX-License-Identifier: Apache-2.0
#include "store/read/step_sums_internal.h"

enum { SAMPLES_AT_ONCE = 1 << 14 };

static const struct series_match *match_of(const struct step_sums *steps,
					   const struct directory_series *entry)
{
	const struct scan_range *window = &steps->plan->window;

	if (entry->first_ms >= window->end_ms || entry->last_ms < window->start_ms)
		return NULL;
	return matched_series_get(steps->plan->series, entry->id);
}

static bool is_of_one_step(const struct scan_plan *plan, const struct directory_series *entry)
{
	return entry->first_ms >= plan->window.start_ms && entry->last_ms < plan->window.end_ms &&
	       (entry->first_ms - plan->steps_start_ms) / plan->step_ms ==
		       (entry->last_ms - plan->steps_start_ms) / plan->step_ms;
}

static bool suffices(const struct step_sums *steps, const struct chunk_directory *directory)
{
	for (size_t i = 0; i < directory->series_count; i++) {
		const struct series_match *series = match_of(steps, &directory->series[i]);

		if (series && (series->open || !is_of_one_step(steps->plan, &directory->series[i])))
			return false;
	}
	return true;
}

static void flush(struct step_sums *steps)
{
	if (steps->has_begun && steps->set.samples.len && !steps->has_failed &&
	    !steps->sink->on_samples(steps->sink->self, &steps->set, &steps->err))
		steps->has_failed = true;
	arena_reset(&steps->arena);
	steps->has_begun = false;
}

static void add(struct step_sums *steps, const struct series_match *series,
		const struct directory_series *entry)
{
	struct sample_set *set = &steps->set;

	if (!steps->has_begun)
		sample_set_init(set, &steps->arena);
	steps->has_begun = true;
	sample_set_add(set,
		       (struct sample){
			       .series = sample_set_series(set, series->type, series->labels, 0),
			       .value = entry->sum,
			       .time_ms = entry->first_ms,
		       });
	steps->stats->samples_read += entry->count;
	steps->stats->samples_matched += entry->count;
}

bool step_sums_add(struct step_sums *steps, const struct chunk_directory *directory)
{
	if (steps->has_failed)
		return true; /* step_sums_end() reports it */
	if (!suffices(steps, directory))
		return false;
	for (size_t i = 0; i < directory->series_count; i++) {
		const struct series_match *series = match_of(steps, &directory->series[i]);

		if (series)
			add(steps, series, &directory->series[i]);
	}
	if (steps->set.samples.len >= SAMPLES_AT_ONCE)
		flush(steps);
	return true;
}

bool step_sums_end(struct step_sums *steps, bool good, struct err *err)
{
	if (good)
		flush(steps);
	if (good && steps->has_failed)
		*err = steps->err;
	arena_free(&steps->arena);
	return good && !steps->has_failed;
}
