// SPDX-License-Identifier: Apache-2.0
/*
 * balance - accounts for a host's samples:  sampled = stored + lost + in flight + unaccounted.
 *
 * An agent counts per spool (an epoch), across its own restarts. Its newest status has the samples
 * that it sampled, lost and truncated. The ingesters' row of the epoch has the samples that were
 * stored, rejected or skipped. The balance of a host is the sum over all of its epochs, since a new
 * spool also counts the samples that it gives up from an older spool.
 *
 *     lost       the agent's reasons, and those after it: rejected, conflict, too_old,
 *                too_far_ahead
 *     in flight  samples of missing batches, as the statuses of the other batches say
 *                ("store/write/transit.h"), without those that the spool lost
 *     gap        the same, if no batch is missing any more but some were given up: there were too
 *                many missing ranges, or the batches are gone from Kafka and from the agent's spool
 *
 * Each term is counted on its own. So the sum is a check: if it fails, the difference is
 * `unaccounted`, with an explanation. Above 0: samples disappeared. Below 0: samples were counted
 * twice, or are not the host's.
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
	uint64_t transit;                           /* samples of missing and given up batches */
};

/* Sorted by reason; counts are not 0. Reasons are in the arena. */
struct balance_reasons {
	struct status_count items[BALANCE_REASONS_MAX];
	size_t len;
};

struct balance {
	/* samples; spooled: put into the spool. sent: acknowledged by Kafka, then. 0: unknown */
	uint64_t sampled, spooled, sent, stored;
	/* batches: received again; received with other contents; not received */
	uint64_t duplicate, conflict, missing;
	struct balance_reasons lost, truncated;
	uint64_t in_flight;  /* samples */
	int64_t unaccounted; /* samples; 0: the balance closes */
	const char *why;     /* static text: why it does not, or is unusable; or NULL */
	/* private */
	uint64_t gap, transit, spool_lost, arrived, spools, without_status;
	bool is_too_large;
};

/* Adds a spool of the host. Names of reasons are copied into the arena, which must outlive `sum`;
 * `spool` is not kept. */
void balance_add(struct balance *sum, const struct balance_spool *spool, struct arena *arena);

/* Call after the last spool: computes in_flight, gap, unaccounted and why. */
void balance_close(struct balance *sum, struct arena *arena);
