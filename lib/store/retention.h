// SPDX-License-Identifier: Apache-2.0
/*
 * retention - what is past its time goes, a partition at a time.
 *
 * A partition is DETACHed CONCURRENTLY, so that no insert waits behind a query, and then dropped.
 * Detaching waits for every transaction that touched the table; where that takes longer than a
 * moment it is left pending and finalized in a later round. Hosts that are heard of no more are
 * forgotten, and so are shares that expired. One ingester at a time does this.
 */
#pragma once

#include "client/postgres.h"

struct retention {
	uint64_t now_ms; /* where clocks differ, the earliest */
	/* How long samples are kept: rows as they came by arrival, merged ones by their samples'
	 * day. Of the former those that were merged go sooner. */
	uint64_t raw_ms;
	uint64_t rollup_ms; /* how long sums of hours are kept */
	uint64_t detach_ms; /* how long to wait for each query that saw a partition */
};

/* One round. ret_dropped: partitions that went. */
bool retention_run(struct postgres *pg, const struct retention *retention, uint64_t *ret_dropped,
		   struct err *err) MUST_CHECK;
