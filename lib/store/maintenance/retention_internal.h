// SPDX-License-Identifier: Apache-2.0
/*
 * retention - drops the partitions whose retention time is over.
 *
 * A partition is detached with DETACH CONCURRENTLY, so that no insert waits behind a query, and
 * then dropped. Detaching waits for every transaction that uses the table; if that takes too long,
 * the detach stays pending and a later run finalizes it. The rows of hosts that send nothing any
 * more are deleted, and so are shares that expired. An advisory lock lets one ingester at a time
 * enforce retention. Called from the maintenance thread.
 */
#pragma once

#include "client/postgres.h"

struct retention {
	uint64_t now_ms; /* Unix ms; if local and server clock differ, the earlier time */
	/* Retention of samples: chunk_raw partitions by arrival, chunk partitions by the day of
	 * their samples. A chunk_raw partition whose rows are all merged is dropped earlier. */
	uint64_t raw_ms;
	uint64_t rollup_ms; /* retention of hourly and daily sums */
	uint64_t detach_ms; /* lock timeout of DETACH, for each query that uses the partition */
};

/*
 * Runs once, over an open connection outside a transaction. Adds the number of dropped partitions
 * to *ret_dropped, also after a failure. True as well if another ingester holds the advisory lock,
 * or if a partition's lock was not available: a later run drops the partition. ERR_IO: PostgreSQL
 * failed; finished steps stay, and the next run continues.
 */
bool retention_run(struct postgres *pg, const struct retention *retention, uint64_t *ret_dropped,
		   struct err *err) MUST_CHECK;
