// SPDX-License-Identifier: Apache-2.0
#include "store/keeper.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/janitor.h"
#include "store/limits.h"
#include "store/partition.h"
#include "store/retention.h"
#include "store/schema.h"

void store_keeper_init(struct store_keeper *keeper, const struct store_keeper_options *options)
{
	*keeper = (struct store_keeper){ .options = *options };
	if (keeper->options.detach_ms == 0)
		keeper->options.detach_ms = DETACH_TIMEOUT_MS;
}

/* Those of now and the next: an hour or a day before they are needed. */
static bool make_ahead(struct store_keeper *keeper, uint64_t now_ms, struct err *err)
{
	for (int table = 0; table < PARTITION_TABLE_COUNT; table++) {
		uint64_t span_ms = partition_tables[table].span_ms;

		for (unsigned int ahead = 0; ahead < 2; ahead++) {
			bool made;

			if (!partition_make(&keeper->pg, (enum partition_table)table,
					    now_ms + ahead * span_ms, &made, err))
				return false;
			keeper->partitions_made += made;
		}
	}
	return true;
}

static bool run(struct store_keeper *keeper, struct err *err)
{
	uint64_t now_ms = clock_unix_ns() / NS_PER_MS;
	const struct retention retention = {
		.now_ms = now_ms,
		.raw_ms = keeper->options.retention_raw_ns / NS_PER_MS,
		.rollup_ms = keeper->options.retention_rollup_ns / NS_PER_MS,
		.detach_ms = keeper->options.detach_ms,
	};

	return schema_check(&keeper->pg, err) &&
	       janitor_run(&keeper->pg, &keeper->writers_ended, err) &&
	       make_ahead(keeper, now_ms, err) &&
	       retention_run(&keeper->pg, &retention, &keeper->partitions_dropped, err);
}

bool store_keeper_run(struct store_keeper *keeper, struct err *err)
{
	const struct postgres_options options = {
		.conninfo = keeper->options.postgres,
		.application = "decima-ingester",
		.settings = "-c lock_timeout=5s",
		.deadline_ms = 4 * keeper->options.detach_ms, /* it waits for one after another */
		.stop = keeper->options.stop,
	};
	bool good = postgres_open(&keeper->pg, &options, err) && run(keeper, err);

	postgres_close(&keeper->pg);
	return good;
}
