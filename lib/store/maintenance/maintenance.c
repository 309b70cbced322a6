// SPDX-License-Identifier: Apache-2.0
#include "store/maintenance/maintenance.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/limits.h"
#include "store/maintenance/partition.h"
#include "store/maintenance/retention_internal.h"
#include "store/maintenance/schema.h"
#include "store/maintenance/shared_hosts.h"
#include "store/maintenance/stuck_writers.h"

#include <inttypes.h>

void store_maintenance_init(struct store_maintenance *maintenance,
			    const struct store_maintenance_options *options)
{
	*maintenance = (struct store_maintenance){ .options = *options };
	if (maintenance->options.detach_ms == 0)
		maintenance->options.detach_ms = DETACH_TIMEOUT_MS;
}

/*
 * Creates the partitions of now and of an hour from now, also of daily tables: not earlier, since
 * an empty partition has pages of its own, and every query plans for it.
 */
static bool make_ahead(struct store_maintenance *maintenance, uint64_t now_ms, struct err *err)
{
	for (int table = 0; table < PARTITION_TABLE_COUNT; table++) {
		for (unsigned int ahead = 0; ahead < 2; ahead++) {
			bool made;

			if (!partition_make(&maintenance->pg, (enum partition_table)table,
					    now_ms + ahead * PARTITION_AHEAD_MS, &made, err))
				return false;
			maintenance->partitions_made += made;
		}
	}
	return true;
}

/* If two clocks differ, one is wrong. The earlier one never drops data too soon. */
static bool earliest_now(struct store_maintenance *maintenance, uint64_t now_ms,
			 uint64_t *ret_now_ms, struct err *err)
{
	CLEANUP(postgres_rows_done) struct postgres_rows rows = { 0 };

	if (!postgres_query(&maintenance->pg, "SELECT (extract(epoch FROM now()) * 1000)::bigint",
			    NULL, 0, &rows, err))
		return false;

	uint64_t theirs_ms = (uint64_t)postgres_get_i64(&rows, 0, 0);

	if (now_ms > theirs_ms + CLOCK_APART_MS)
		log_warn("the local clock is ahead of PostgreSQL's; retention uses PostgreSQL's",
			 "seconds=%" PRIu64, (now_ms - theirs_ms) / 1000);
	*ret_now_ms = now_ms < theirs_ms ? now_ms : theirs_ms;
	return true;
}

static bool run(struct store_maintenance *maintenance, struct err *err)
{
	uint64_t now_ms = maintenance->options.now_ms ? maintenance->options.now_ms
						      : clock_unix_ns() / NS_PER_MS;
	struct retention retention = {
		.raw_ms = maintenance->options.retention_raw_ns / NS_PER_MS,
		.rollup_ms = maintenance->options.retention_rollup_ns / NS_PER_MS,
		.detach_ms = maintenance->options.detach_ms,
	};

	return earliest_now(maintenance, now_ms, &retention.now_ms, err) &&
	       schema_check(&maintenance->pg, err) &&
	       stuck_writers_terminate(&maintenance->pg, &maintenance->writers_terminated, err) &&
	       shared_hosts_check(&maintenance->pg, &maintenance->shared_hosts, err) &&
	       make_ahead(maintenance, now_ms, err) &&
	       retention_run(&maintenance->pg, &retention, &maintenance->partitions_dropped, err);
}

bool store_maintenance_run(struct store_maintenance *maintenance, struct err *err)
{
	const struct postgres_options options = {
		.conninfo = maintenance->options.postgres,
		.application = "decima-ingester",
		.settings = "-c lock_timeout=5s",
		.deadline_ms =
			4 * maintenance->options
				    .detach_ms, /* DETACH waits for one query after another */
		.cancel = maintenance->options.cancel,
	};
	bool good = postgres_open(&maintenance->pg, &options, err) && run(maintenance, err);

	postgres_close(&maintenance->pg);
	return good;
}
