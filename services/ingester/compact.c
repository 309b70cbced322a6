// SPDX-License-Identifier: Apache-2.0
#include "compact.h"

#include "base/clock.h"
#include "base/log.h"
#include "chassis/daemon.h"
#include "ingester_limits.h"
#include "metrics.h"

static void measure(const struct store_compactor *store)
{
	metric_set(&ingester_merged_rows, (int64_t)store->merged.rows);
	metric_set(&ingester_merged_bytes, (int64_t)store->merged.bytes);
	metric_set(&ingester_merged_samples,
		   (int64_t)(store->merged.samples - store->merged.joined_samples));
	metric_set(&ingester_joined_rows, (int64_t)store->merged.joined);
	metric_set(&ingester_chunks, (int64_t)store->merged.made);
	metric_set(&ingester_chunk_bytes, (int64_t)store->merged.made_bytes);
	metric_set(&ingester_rolled_chunks, (int64_t)store->rolled.rows);
	metric_set(&ingester_rolled_samples, (int64_t)store->rolled.samples);
	metric_set(&ingester_rollups, (int64_t)store->rolled.made);
	metric_set(&ingester_rollup_bytes, (int64_t)store->rolled.made_bytes);
	metric_set(&ingester_day_rollups, (int64_t)store->dayed.made);
	metric_set(&ingester_damaged_rows, (int64_t)store->unreadable);
}

static void *run(void *self)
{
	struct compact *compact = self;
	bool had_tables = false;

	while (!daemon_stopping()) {
		struct err err;
		bool found = false, good = store_compact(&compact->store, &found, &err);

		measure(&compact->store);
		/* At the first start the consumer is about to make the tables. */
		if (!good && !daemon_stopping() && (had_tables || err.code != ERR_NOT_FOUND)) {
			metric_add(&ingester_merge_errors, 1);
			log_warn("trying again", "error=\"%s\"", err.msg);
		}
		had_tables = had_tables || good;
		if (!found)
			(void)daemon_wait(COMPACT_WAIT_MS);
	}
	store_compactor_close(&compact->store);
	return NULL;
}

bool compact_start(struct compact *compact, const struct compact_options *options, struct err *err)
{
	if (options->age_ns == 0)
		return true;
	store_compactor_init(&compact->store, &(struct store_compactor_options){
						      .postgres = options->postgres,
						      .age_ms = options->age_ns / NS_PER_MS,
						      .stop = daemon_stop_flag(),
					      });
	if (pthread_create(&compact->thread, NULL, run, compact) != 0)
		return err_set(err, ERR_IO, "cannot start the thread that merges rows");
	compact->is_running = true;
	return true;
}

void compact_stop(struct compact *compact)
{
	if (compact->is_running)
		pthread_join(compact->thread, NULL);
	compact->is_running = false;
}
