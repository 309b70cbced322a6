// SPDX-License-Identifier: Apache-2.0
#include "store/fleet/balance.h"

static void add(struct balance *sum, uint64_t *to, uint64_t samples)
{
	/* PostgreSQL and JSON readers count to 2^63; no real host comes close. */
	if (__builtin_add_overflow(*to, samples, to) || *to > INT64_MAX) {
		sum->is_too_large = true;
		*to = INT64_MAX;
	}
}

/* The index of the reason, or where to insert it: sorted by name, as in the response. */
static size_t reason_find(const struct balance_reasons *reasons, str name, bool *ret_found)
{
	size_t at = 0;

	while (at < reasons->len && str_compare(reasons->items[at].reason, name) < 0)
		at++;
	*ret_found = at < reasons->len && str_eq(reasons->items[at].reason, name);
	return at;
}

/* The entry of a reason, added if it is new. The last free entry is reserved for "other". */
static struct status_count *reason_at(struct balance_reasons *reasons, str name,
				      struct arena *arena)
{
	bool found;
	size_t at = reason_find(reasons, name, &found);

	if (!found && reasons->len >= BALANCE_REASONS_MAX - 1) {
		name = STR("other");
		at = reason_find(reasons, name, &found);
	}
	if (found)
		return &reasons->items[at];
	memmove(&reasons->items[at + 1], &reasons->items[at],
		(reasons->len - at) * sizeof(*reasons->items));
	reasons->items[at] = (struct status_count){ .reason = str_copy(arena, name) };
	reasons->len++;
	return &reasons->items[at];
}

static void add_reason(struct balance *sum, struct balance_reasons *reasons, str name,
		       uint64_t samples, struct arena *arena)
{
	if (samples)
		add(sum, &reason_at(reasons, name, arena)->samples, samples);
}

void balance_add(struct balance *sum, const struct balance_spool *spool, struct arena *arena)
{
	const struct agent_status *status = &spool->status;
	uint64_t ahead =
		spool->too_far_ahead < spool->skipped ? spool->too_far_ahead : spool->skipped;

	sum->spools++;
	add(sum, &sum->stored, spool->stored);
	add(sum, &sum->duplicate, spool->duplicate);
	add(sum, &sum->conflict, spool->conflict);
	add(sum, &sum->missing, spool->missing);
	add(sum, &sum->gap, spool->gap);
	add(sum, &sum->transit, spool->transit);
	add(sum, &sum->arrived, spool->stored);
	add(sum, &sum->arrived, spool->skipped);
	add(sum, &sum->arrived, spool->rejected);
	add_reason(sum, &sum->lost, STR("conflict"), spool->conflict_samples, arena);
	add_reason(sum, &sum->lost, STR("rejected"), spool->rejected, arena);
	add_reason(sum, &sum->lost, STR("too_far_ahead"), ahead, arena);
	add_reason(sum, &sum->lost, STR("too_old"), spool->skipped - ahead, arena);
	sum->without_status += !spool->has_status;
	if (!spool->has_status)
		return;
	add(sum, &sum->sampled, status->sampled);
	add(sum, &sum->spooled, status->spooled);
	add(sum, &sum->sent, status->sent);
	add(sum, &sum->spool_lost, status_spool_lost(status));
	for (size_t i = 0; i < status->lost_count; i++)
		add_reason(sum, &sum->lost, status->lost[i].reason, status->lost[i].samples, arena);
	for (size_t i = 0; i < status->truncated_count; i++)
		add_reason(sum, &sum->truncated, status->truncated[i].reason,
			   status->truncated[i].samples, arena);
}

/* The most likely reason for a balance that does not close. */
static const char *why_open(const struct balance *sum)
{
	if (sum->without_status)
		return "batches arrived without the agent's status: the number of sampled samples "
		       "is unknown";
	if (sum->conflict)
		return "batches arrived under numbers of other batches: another program sends "
		       "under "
		       "this host's name, or the agent's state was copied";
	if (sum->unaccounted > 0 && sum->sent > sum->arrived)
		return "Kafka acknowledged samples that did not arrive, though no batch is missing";
	if (sum->unaccounted > 0)
		return "the agent reports more samples than its batches, its losses and the "
		       "missing batches contain";
	if (sum->spools > 1)
		return "a new spool counts losses of an older spool whose last batches never "
		       "arrived, or of batches that had arrived after all";
	return "the agent counts losses of batches that had arrived after all, or of a spool that "
	       "it had under another host id";
}

void balance_close(struct balance *sum, struct arena *arena)
{
	uint64_t accounted = sum->stored, waiting = 0;

	if (sum->transit > sum->spool_lost && (sum->missing || sum->gap))
		waiting = sum->transit - sum->spool_lost;
	if (sum->missing)
		sum->in_flight = waiting;
	else
		add_reason(sum, &sum->lost, STR("gap"), waiting, arena);
	for (size_t i = 0; i < sum->lost.len; i++)
		add(sum, &accounted, sum->lost.items[i].samples);
	add(sum, &accounted, sum->in_flight);
	if (sum->is_too_large) {
		sum->in_flight = 0;
		sum->why = "the counts are too large to be added up";
		return;
	}
	/* Both are at most INT64_MAX. */
	sum->unaccounted = (int64_t)sum->sampled - (int64_t)accounted;
	if (sum->unaccounted)
		sum->why = why_open(sum);
}
