#include "base/clock.h"
#include "resolve_work.h"
#include "symbolizer_limits.h"

static void tell(struct work *work, struct part *part, const struct answers_ask *ask)
{
	part->is_cold = false;
	if (ask->found == ANSWERS_WHOLE)
		resolve_answer(part, ask->locations, part->generation);
	else
		resolve_answer_reason(work, part, ask->reason);
	resolve_count_shared(part);
}

/* Those that Redis does not know: one replica's turn, while others wait for a bounded time. */
static void take_turns(struct work *work, struct answers_ask *asks, struct part **parts,
		       size_t count)
{
	uint64_t now_ns = clock_monotonic_ns();

	answers_lock(work->resolver->answers, asks, count);
	for (size_t i = 0; i < count; i++) {
		struct part *part = parts[i];

		part->has_asked = true;
		part->has_lock = asks[i].is_ours;
		part->wait_until_ns = asks[i].is_ours ? 0 : now_ns + LOCK_WAIT_MS * NS_PER_MS;
		if (asks[i].is_ours)
			resolve_begin(work, part);
	}
}

void resolve_shared(struct work *work)
{
	AUTO_ARENA scratch = { 0 };
	struct answers_ask *asks = arena_array(&scratch, struct answers_ask, work->count);
	struct part **parts = arena_array(&scratch, struct part *, work->count);
	uint64_t now_ns = clock_monotonic_ns();
	size_t count = 0, left = 0;

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
	answers_get(work->resolver->answers, asks, count, &work->namer);
	for (size_t i = 0; i < count; i++) {
		struct part *part = parts[i];
		bool is_waiting = asks[i].is_locked && now_ns < part->wait_until_ns;

		if (asks[i].found != ANSWERS_MISSED) {
			tell(work, part, &asks[i]);
		} else if (!part->has_asked) {
			parts[left] = part;
			asks[left++] = asks[i];
		} else if (!is_waiting) {
			part->wait_until_ns = 0; /* it found something else, or took too long */
			resolve_begin(work, part);
		}
	}
	if (left)
		take_turns(work, asks, parts, left);
}
