// SPDX-License-Identifier: Apache-2.0
#include "ingester/maintain/compact.h"

#include "base/clock.h"
#include "base/liveness.h"
#include "base/log.h"
#include "ingester/ingester_limits.h"
#include "ingester/metrics.h"
#include "server/daemon.h"

static void measure(const struct store_compactor *store)
{
	metric_set(&ingester_compacted_rows, (int64_t)store->merged.rows);
	metric_set(&ingester_compacted_bytes, (int64_t)store->merged.bytes);
	metric_set(&ingester_compacted_samples,
		   (int64_t)(store->merged.samples - store->merged.coalesced_samples));
	metric_set(&ingester_coalesced_rows, (int64_t)store->merged.coalesced);
	metric_set(&ingester_chunks, (int64_t)store->merged.made);
	metric_set(&ingester_chunk_bytes, (int64_t)store->merged.made_bytes);
	metric_set(&ingester_rolled_up_chunks, (int64_t)store->rolled_up.rows);
	metric_set(&ingester_rolled_up_samples, (int64_t)store->rolled_up.samples);
	metric_set(&ingester_rollups, (int64_t)store->rolled_up.made);
	metric_set(&ingester_rollup_bytes, (int64_t)store->rolled_up.made_bytes);
	metric_set(&ingester_daily_rollups, (int64_t)store->daily.made);
	metric_set(&ingester_damaged_rows, (int64_t)store->unreadable);
}

static void *run(void *self)
{
	struct compact *compact = self;
	bool had_tables = false;

	liveness_begin("compaction");
	while (!daemon_stopping()) {
		struct err err;
		bool found = false, good = store_compact(&compact->store, &found, &err);

		measure(&compact->store);
		/* At the first start the consumer has not created the tables yet. */
		if (!good && !daemon_stopping() && (had_tables || err.code != ERR_NOT_FOUND)) {
			metric_add(&ingester_compaction_errors, 1);
			log_warn("compaction failed, trying again", "error=\"%s\"", err.msg);
		}
		had_tables = had_tables || good;
		if (!found)
			(void)daemon_wait(COMPACT_WAIT_MS);
	}
	store_compactor_close(&compact->store);
	liveness_end();
	return NULL;
}

bool compact_start(struct compact *compact, const struct compact_options *options, struct err *err)
{
	if (options->age_ns == 0)
		return true;
	store_compactor_init(&compact->store, &(struct store_compactor_options){
						      .postgres = options->postgres,
						      .age_ms = options->age_ns / NS_PER_MS,
						      .cancel = daemon_cancel(),
					      });
	if (pthread_create(&compact->thread, NULL, run, compact) != 0)
		return err_set(err, ERR_IO, "cannot start the compaction thread");
	pthread_setname_np(compact->thread, "compaction");
	compact->is_running = true;
	return true;
}

void compact_stop(struct compact *compact)
{
	if (compact->is_running)
		pthread_join(compact->thread, NULL);
	compact->is_running = false;
}
