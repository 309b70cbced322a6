// SPDX-License-Identifier: Apache-2.0
/*
 * transit - the samples of a spool's missing batches, counted from the statuses of the others.
 *
 *     batch 3 arrives: 30 samples were spooled up to it
 *     batch 6 arrives: 75 were, 10 of them in batch 6  ──►  batches 4 and 5 have 35 samples
 *     batch 4 arrives late, with 20                    ──►  15 are missing
 *
 * This count needs neither what was stored nor what was lost, so that the balance of a host (see
 * "store/fleet/balance.h") can fail. Batches that the spool lost are missing for ever: the caller
 * subtracts them. Values that contradict each other count as 0. No I/O, no failure, any thread.
 */
#pragma once

#include "store/write/received_set.h"

struct transit {
	uint64_t spooled; /* samples put into the spool, according to the newest status */
	uint64_t missing; /* samples of missing batches, and of those that were given up */
};

/* A batch whose number is the highest so far, with its status. */
struct transit_batch {
	uint64_t spooled; /* samples put into the spool, this batch included */
	uint64_t samples; /* in this batch */
	uint64_t skipped; /* numbers between the highest before and this one: they are missing */
};

void transit_add_new(struct transit *transit, const struct transit_batch *batch);

/* A batch that was missing arrived, with this number of samples. */
void transit_add_late(struct transit *transit, uint64_t samples);

/* Call after each batch, when the set has its number: if no number is missing or was given up, then
 * no sample is missing. */
void transit_settle(struct transit *transit, const struct received_set *seen);

/*
 * What is missing according to a row that an older ingester wrote last, which counted none of this:
 * the remainder. `accounted` are samples stored or lost, by the agent or after it; `spool_lost` are
 * those of them that the spool lost.
 */
uint64_t transit_estimate(uint64_t sampled, uint64_t accounted, uint64_t spool_lost);
