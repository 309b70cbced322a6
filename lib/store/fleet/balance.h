// SPDX-License-Identifier: Apache-2.0
/*
 * balance - accounts for a host's samples:  sampled = stored + lost + in flight.
 *
 * An agent counts per spool (an epoch), across its own restarts. Its newest status has the samples
 * that it sampled, lost and truncated. The ingesters' row of the epoch has the samples that were
 * stored, rejected or skipped. The balance of a host is the sum over all of its epochs, since a new
 * spool also counts the samples that it gives up from an older spool.
 *
 *     lost       the agent's reasons, and the ingesters': rejected, conflict, too_old,
 * too_far_ahead in flight  the remainder: batches that were sent but not received yet gap the
 * remainder as well, if no batch is missing any more but some were given up: there were too many
 * missing ranges, or the batches are gone from Kafka and from the agent's spool
 *
 * A negative remainder means that samples were counted twice or reported too late. The
 * remainder is shown unchanged, with an explanation.
 *
 * {0} is an empty balance; call balance_add() for each spool of a host, then balance_close() once.
 * The functions cannot fail; counts beyond INT64_MAX make the balance unusable (`why`). No I/O; one
 * thread per balance.
 */
#pragma once

#include "store/limits.h"
#include "wire/status.h"

/* The counts of one spool. */
struct balance_spool {
	struct agent_status status; /* the agent's newest status */
	bool has_status;            /* false: no batch had a readable status */
	uint64_t stored, skipped, too_far_ahead, rejected,
		conflict_samples;                   /* samples; too_far_ahead is in skipped */
	uint64_t duplicate, conflict, missing, gap; /* batches */
};

/* Sorted by reason; counts are not 0. Reasons are in the arena. */
struct balance_reasons {
	struct status_count items[BALANCE_REASONS_MAX];
	size_t len;
};

struct balance {
	uint64_t sampled, stored; /* samples */
	/* batches: received again; received with other contents; not received */
	uint64_t duplicate, conflict, missing;
	struct balance_reasons lost, truncated;
	int64_t in_flight;
	const char *why; /* static text: why in_flight is negative or unusable; or NULL */
	/* private */
	uint64_t gap, spools, without_status;
	bool is_too_large;
};

/* Adds a spool of the host. Names of reasons are copied into the arena, which must outlive `sum`;
 * `spool` is not kept. */
void balance_add(struct balance *sum, const struct balance_spool *spool, struct arena *arena);

/* Call after the last spool: computes in_flight, gap and why. */
void balance_close(struct balance *sum, struct arena *arena);
