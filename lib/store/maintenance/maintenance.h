// SPDX-License-Identifier: Apache-2.0
/*
 * maintenance - periodic work on the tables: partitions, retention and stuck writers.
 *
 * A run creates partitions ahead of time, drops data past its retention
 * ("store/maintenance/retention_internal.h") and terminates the connections of stuck writers
 * ("store/maintenance/stuck_writers.h"). A run may wait half a minute for running queries.
 * Maintenance therefore needs a thread of its own, and has a connection of its own that is open
 * only during a run. One thread per struct; any number of ingesters may run maintenance at the same
 * time.
 */
#pragma once

#include "client/postgres.h"

struct store_maintenance_options {
	const char *postgres; /* libpq conninfo or URI; must outlive the struct */
	uint64_t retention_raw_ns, retention_rollup_ns; /* of samples; of hourly and daily sums */
	uint64_t detach_ms; /* how long DETACH waits for queries until the next run; 0: 30 s */
	uint64_t now_ms;    /* for tests: the local time; 0: read the clock */
	const struct cancel *cancel; /* ends every wait; must outlive the struct */
};

struct store_maintenance {
	/* read freely: since init */
	uint64_t partitions_made, partitions_dropped;
	uint64_t writers_terminated; /* connections of stuck writers that were terminated */
	uint64_t shared_hosts;       /* hosts with several agents, in the last run */
	/* private */
	struct store_maintenance_options options;
	struct postgres pg;
};

/* Overwrites *maintenance and copies the options. Cannot fail; there is nothing to close. */
void store_maintenance_init(struct store_maintenance *maintenance,
			    const struct store_maintenance_options *options);

/*
 * Runs once; to be called about once a minute. ERR_NOT_FOUND: the tables do not exist yet. ERR_IO:
 * PostgreSQL failed or the run was cancelled; finished steps stay, and the next run continues. A
 * lock that is not available is no failure: that step is left to a later run.
 */
bool store_maintenance_run(struct store_maintenance *maintenance, struct err *err) MUST_CHECK;
