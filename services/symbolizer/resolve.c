// SPDX-License-Identifier: Apache-2.0
#include "resolve.h"

#include "base/clock.h"
#include "chassis/metrics.h"
#include "resolve_work.h"
#include "symbolizer_limits.h"

enum { WAIT_MS = 100 }; /* for what nobody announces: other replicas, generations */

enum found { WARM, NEGATIVE, SHARED, BUILT, OLDER, LATE, FOUNDS };
static const char *const found_names[FOUNDS] = {
	[WARM] = "warm",   [NEGATIVE] = "negative", [SHARED] = "shared",
	[BUILT] = "built", [OLDER] = "older",       [LATE] = "late",
};

static struct metric addresses = { .name = "decima_symbolizer_addresses_total",
				   .kind = METRIC_COUNTER,
				   .help = "Addresses that names were asked for, by what was "
					   "answered.",
				   .label = "outcome",
				   .values = name_reason_names,
				   .value_count = NAME_REASON_COUNT };
static struct metric binaries = {
	.name = "decima_symbolizer_binaries_total",
	.kind = METRIC_COUNTER,
	.help = "Build ids in requests, by where the answer came from: a table that was there, the "
		"knowledge that there is none, Redis, one that was waited for, one of an older "
		"generation "
		"because the wait was too long, nowhere for the same reason.",
	.label = "found",
	.values = found_names,
	.value_count = FOUNDS
};
static struct metric seconds = { .name = "decima_symbolizer_request_duration_seconds",
				 .kind = METRIC_HISTOGRAM,
				 .help = "Time of a request, waiting for debug files included.",
				 METRIC_IN_SECONDS };
struct metric *const resolve_metrics[RESOLVE_METRICS] = { &addresses, &binaries, &seconds };

static void count(struct part *part, enum found found)
{
	metric_add_at(&binaries, found, 1);
	part->is_done = true;
}

void resolve_answer_reason(const struct work *work, struct part *part, enum name_reason reason)
{
	size_t len = part->asked->address_count;
	struct symbolized_location *locations =
		arena_array(work->arena, struct symbolized_location, len);

	for (size_t i = 0; i < len; i++)
		locations[i].reason = reason;
	part->answer->reason = reason;
	part->answer->locations = locations;
	part->answer->location_count = len;
	metric_add_at(&addresses, reason, len);
}

void resolve_answer(struct part *part, struct symbolized_location *locations, uint64_t generation)
{
	size_t len = part->asked->address_count;
	uint64_t by_reason[NAME_REASON_COUNT] = { 0 };

	for (size_t i = 0; i < len; i++)
		by_reason[locations[i].reason]++;
	for (enum name_reason reason = 0; reason < NAME_REASON_COUNT; reason++)
		metric_add_at(&addresses, reason, by_reason[reason]);
	part->answer->generation = generation;
	part->answer->locations = locations;
	part->answer->location_count = len;
}

void resolve_count_shared(struct part *part)
{
	count(part, SHARED);
}

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

void resolve_begin(const struct work *work, struct part *part)
{
	part->is_cold = false;
	part->has_begun = true;
	if (tables_begin(work->resolver->tables, &part->id))
		(void)crew_put(work->resolver->crew, &part->id); /* full: again at the next look */
}

/* The replicas that wait for it may go on. */
void resolve_unlock(const struct work *work, struct part *part)
{
	if (part->has_lock)
		answers_unlock(work->resolver->answers, &part->id, part->generation);
	part->has_lock = false;
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
		count(part, part->has_waited ? BUILT : WARM);
		if (look.is_due)
			resolve_begin(work, part);
		resolve_unlock(work, part);
		break;
	case TABLE_NEGATIVE:
		resolve_answer_reason(work, part, look.reason);
		if (part->has_waited && is_shared(look.reason))
			answers_put_reason(work->resolver->answers, &part->id, part->generation,
					   look.reason);
		count(part, NEGATIVE);
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
	count(part, look.held ? OLDER : LATE);
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
