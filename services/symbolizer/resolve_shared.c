// SPDX-License-Identifier: Apache-2.0
#include "resolve_shared.h"

#include "base/clock.h"
#include "chassis/metrics.h"
#include "symbolizer_limits.h"

enum turn { OURS, ANOTHERS, TOO_LONG, TURNS };
static const char *const turn_names[TURNS] = {
	[OURS] = "ours", [ANOTHERS] = "anothers", [TOO_LONG] = "too_long"
};

static struct metric turns = { .name = "decima_symbolizer_redis_turns_total",
			       .kind = METRIC_COUNTER,
			       .help = "Tables that were to be built, by whose turn it was; too "
				       "long: another replica's, for longer than we wait.",
			       .label = "whose",
			       .values = turn_names,
			       .value_count = TURNS };
struct metric *const resolve_shared_metrics[RESOLVE_SHARED_METRICS] = { &turns };

static void tell(struct work *work, struct part *part, const struct answers_ask *ask)
{
	part->is_cold = false;
	if (ask->found == ANSWERS_WHOLE)
		resolve_answer(part, ask->locations, part->generation);
	else
		resolve_answer_reason(work, part, ask->reason);
	resolve_count(part, FOUND_SHARED);
	resolve_unlock(work, part);
}

/* One that Redis does not know: one replica's turn, while the others wait for a bounded time. */
static void take_turn(const struct work *work, struct part *part)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (part->has_lock) {
		metric_add_at(&turns, OURS, 1);
		resolve_begin(work, part);
	} else if (!part->wait_until_ns) {
		metric_add_at(&turns, ANOTHERS, 1);
		part->wait_until_ns = now_ns + LOCK_WAIT_MS * NS_PER_MS;
	} else if (now_ns >= part->wait_until_ns) {
		metric_add_at(&turns, TOO_LONG, 1);
		resolve_begin(work, part);
	}
}

void resolve_shared(struct work *work)
{
	AUTO_ARENA scratch = { 0 };
	struct answers_ask *asks = arena_array(&scratch, struct answers_ask, work->count);
	struct part **parts = arena_array(&scratch, struct part *, work->count);
	size_t count = 0;

	for (size_t i = 0; i < work->count; i++) {
		struct part *part = &work->parts[i];

		if (part->is_done || !part->is_cold)
			continue;
		parts[count] = part;
		asks[count++] = (struct answers_ask){ .id = &part->id,
						      .generation = part->generation,
						      .addresses = part->asked->addresses,
						      .count = part->asked->address_count };
	}
	if (count)
		answers_get(work->resolver->answers, asks, count, &work->namer);
	for (size_t i = 0; i < count; i++) {
		parts[i]->has_lock = asks[i].is_ours;
		if (asks[i].found != ANSWERS_MISSED)
			tell(work, parts[i], &asks[i]);
		else
			take_turn(work, parts[i]);
	}
}
