// SPDX-License-Identifier: Apache-2.0
#include "resolve_work.h"

#include "chassis/metrics.h"

static const char *const found_names[FOUND_COUNT] = {
	[FOUND_WARM] = "warm",   [FOUND_NEGATIVE] = "negative", [FOUND_SHARED] = "shared",
	[FOUND_BUILT] = "built", [FOUND_OLDER] = "older",       [FOUND_LATE] = "late",
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
		"generation because the wait was too long, nowhere for the same reason.",
	.label = "found",
	.values = found_names,
	.value_count = FOUND_COUNT
};
struct metric *const resolve_work_metrics[RESOLVE_WORK_METRICS] = { &addresses, &binaries };

void resolve_count(struct part *part, enum found found)
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

void resolve_begin(const struct work *work, struct part *part)
{
	part->is_cold = false;
	part->has_begun = true;
	if (tables_begin(work->resolver->tables, &part->id))
		(void)crew_put(work->resolver->crew, &part->id); /* full: again at the next look */
}

void resolve_unlock(const struct work *work, struct part *part)
{
	if (part->has_lock)
		answers_unlock(work->resolver->answers, &part->id, part->generation);
	part->has_lock = false;
}
