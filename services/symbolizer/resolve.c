// SPDX-License-Identifier: Apache-2.0
#include "resolve.h"

#include "base/clock.h"
#include "chassis/metrics.h"
#include "resolve_shared.h"
#include "symbolizer_limits.h"

enum { WAIT_MS = 100 }; /* for what nobody announces: other replicas, generations */

static struct metric seconds = { .name = "decima_symbolizer_request_duration_seconds",
				 .kind = METRIC_HISTOGRAM,
				 .help = "Time of a request, waiting for debug files included.",
				 METRIC_IN_SECONDS };
struct metric *const resolve_metrics[RESOLVE_METRICS] = { &seconds };

static void answer_names(struct work *work, struct part *part, const struct held_table *held)
{
	size_t len = part->asked->address_count;
	struct symbolized_location *locations =
		arena_array(work->arena, struct symbolized_location, len);

	for (size_t i = 0; i < len; i++)
		locations[i] = namer_find(&work->namer, &held->symbols, part->asked->addresses[i]);
	resolve_answer(part, locations, held->generation);
	if (!held->is_second_best) /* what may soon be named better stays here */
		answers_put(work->resolver->answers, &part->id, held->generation,
			    part->asked->addresses, locations, len);
}

/* Reasons that hold for all replicas. */
static bool is_shared(enum name_reason reason)
{
	return reason == NAME_NO_DEBUG_INFO || reason == NAME_MALFORMED || reason == NAME_TOO_LARGE;
}

/* One look at what there is for it. */
static void look_at(struct work *work, struct part *part)
{
	struct tables *tables = work->resolver->tables;
	struct table_look look = tables_look(tables, &part->id, part->generation);

	part->answer->generation = part->generation == GENERATION_UNKNOWN ? 0 : part->generation;
	switch (look.state) {
	case TABLE_READY:
		answer_names(work, part, look.held);
		resolve_count(part, part->has_waited ? FOUND_BUILT : FOUND_WARM);
		if (look.is_due)
			resolve_begin(work, part);
		resolve_unlock(work, part);
		break;
	case TABLE_NEGATIVE:
		resolve_answer_reason(work, part, look.reason);
		if (part->has_waited && is_shared(look.reason))
			answers_put_reason(work->resolver->answers, &part->id, part->generation,
					   look.reason);
		resolve_count(part, FOUND_NEGATIVE);
		resolve_unlock(work, part);
		break;
	case TABLE_COLD:
		part->is_cold = work->resolver->answers->is_on && !part->has_begun &&
				part->generation != GENERATION_UNKNOWN;
		if (!part->is_cold)
			resolve_begin(work, part);
		part->has_waited = true;
		break;
	case TABLE_WORKING:
		part->has_waited = true;
		break;
	}
	tables_give(tables, look.held);
}

/* Not in time: names of an older file are better than none. */
static void give_up(struct work *work, struct part *part)
{
	struct tables *tables = work->resolver->tables;
	struct table_look look = tables_look(tables, &part->id, part->generation);

	if (look.held)
		answer_names(work, part, look.held);
	else
		resolve_answer_reason(work, part, NAME_PENDING);
	resolve_count(part, look.held ? FOUND_OLDER : FOUND_LATE);
	tables_give(tables, look.held);
}

static void get_generations(struct work *work)
{
	AUTO_ARENA scratch = { 0 };
	const struct build_id **ids = arena_array(&scratch, const struct build_id *, work->count);
	uint64_t *told = arena_array(&scratch, uint64_t, work->count);
	size_t len = 0;

	for (size_t i = 0; i < work->count; i++)
		if (!work->parts[i].is_done)
			ids[len++] = &work->parts[i].id;
	generations_get(work->resolver->generations, ids, len, told);
	len = 0;
	for (size_t i = 0; i < work->count; i++)
		if (!work->parts[i].is_done)
			work->parts[i].generation = told[len++];
}

static size_t look_at_all(struct work *work)
{
	size_t left = 0;

	for (size_t i = 0; i < work->count; i++) {
		struct part *part = &work->parts[i];

		if (part->is_done)
			continue;
		look_at(work, part);
	}
	if (work->resolver->answers->is_on)
		resolve_shared(work);
	for (size_t i = 0; i < work->count; i++)
		left += !work->parts[i].is_done;
	return left;
}

/* Which are to be answered by a table at all. */
static void sort_out(struct work *work, const struct symbolize_request *request,
		     struct symbolized_binary *answers)
{
	for (size_t i = 0; i < work->count; i++) {
		struct part *part = &work->parts[i];
		struct err err;

		*part = (struct part){ .asked = &request->binaries[i], .answer = &answers[i] };
		if (build_id_parse(part->asked->build_id, &part->id, &err))
			continue;
		part->is_done = true;
		resolve_answer_reason(work, part, NAME_BAD_BUILD_ID);
	}
	get_generations(work);
	for (size_t i = 0; i < work->count; i++) {
		struct part *part = &work->parts[i];

		if (part->is_done || part->asked->address_count)
			continue;
		part->is_done = true; /* only the generation was asked for */
		part->answer->generation =
			part->generation == GENERATION_UNKNOWN ? 0 : part->generation;
	}
}

static bool goes_on(const struct work *work)
{
	return clock_monotonic_ns() < work->deadline_ns && !stop_is_asked(work->gone) &&
	       !stop_is_asked(work->resolver->options.stop);
}

/* Wait for what is being built, and look again, but not at every single change. */
static void wait_for_tables(struct work *work)
{
	struct tables *tables = work->resolver->tables;

	while (goes_on(work)) {
		uint64_t changes = tables_changes(tables);
		uint64_t until_ns = clock_monotonic_ns() + WAIT_MS * NS_PER_MS;

		get_generations(work); /* the crew may have learned of another one */
		if (!look_at_all(work))
			return;
		tables_wait(tables, changes,
			    until_ns < work->deadline_ns ? until_ns : work->deadline_ns);
		stop_wait(work->resolver->options.stop, LOOK_AGAIN_MS);
	}
}

struct symbolize_response resolve(const struct resolver *resolver,
				  const struct symbolize_request *request, const struct stop *gone,
				  struct arena *arena)
{
	uint64_t began_ns = clock_monotonic_ns();
	size_t len = request->binary_count;
	struct symbolized_binary *answers = arena_array(arena, struct symbolized_binary, len);
	struct work work = { .resolver = resolver,
			     .gone = gone,
			     .arena = arena,
			     .parts = arena_array(arena, struct part, len),
			     .count = len,
			     .deadline_ns = began_ns + resolver->options.timeout_ns };

	namer_init(&work.namer, arena);
	sort_out(&work, request, answers);
	if (look_at_all(&work))
		wait_for_tables(&work);
	for (size_t i = 0; i < len; i++)
		if (!work.parts[i].is_done)
			give_up(&work, &work.parts[i]);
	metric_observe(&seconds, clock_monotonic_ns() - began_ns);
	return (struct symbolize_response){ answers, len };
}
