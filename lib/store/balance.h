// SPDX-License-Identifier: Apache-2.0
/*
 * closing_sum - where a host's samples went:  taken = stored + lost + in flight.
 *
 * An agent counts from the beginning of its spool (an epoch), over its own restarts: what it took,
 * lost and truncated is in its last word. What came of it and was stored, refused or left out is in
 * the ingesters' row of that epoch. A host is all of its epochs added up, since a new spool books
 * what it gives up of an older one's batches:
 *
 *     lost       what the agent names, and by us: rejected, too_old, too_far_ahead
 *     in flight  the rest: batches between the two that have not come
 *     gap        the rest too, once every batch has come or was given up: by us, because there were
 *                too many, or as gone from Kafka, because the agent has it no more
 *
 * Where the rest is below zero, somebody counted something twice or told us of it too late: it is
 * shown as it is, with a sentence. Pure.
 */
#pragma once

#include "profile/status.h"
#include "store/limits.h"

/* What is known of one spool. */
struct balance_spool {
	struct agent_status said; /* the agent's last word */
	bool has_said;            /* false: no batch of its came with a readable one */
	uint64_t stored, skipped, too_far_ahead,
		rejected;                 /* samples; too_far_ahead is in skipped */
	uint64_t duplicate, missing, gap; /* batches */
};

/* By name; none is 0. */
struct sum_reasons {
	struct status_count items[BALANCE_REASONS_MAX];
	size_t len;
};

struct closing_sum {
	uint64_t taken, stored;      /* samples */
	uint64_t duplicate, missing; /* batches: that came again, that have not come */
	struct sum_reasons lost, truncated;
	int64_t in_flight;
	const char
		*why; /* a sentence where in_flight is below zero, or the sum is no use; or NULL */
	/* private */
	uint64_t gap, spools, silent;
	bool is_too_large;
};

/* Add a spool of the host. Names of reasons are copied into the arena. */
void balance_add(struct closing_sum *sum, const struct balance_spool *spool, struct arena *arena);

/* After the last one: in_flight, gap, why. */
void balance_close(struct closing_sum *sum, struct arena *arena);
