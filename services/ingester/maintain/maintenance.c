// SPDX-License-Identifier: Apache-2.0
#include "ingester/maintain/maintenance.h"

#include "base/clock.h"
#include "base/log.h"
#include "ingester/ingester_limits.h"
#include "ingester/metrics.h"
#include "server/daemon.h"

static void count(const struct store_maintenance *now, const struct store_maintenance *before)
{
	metric_add(&ingester_partitions_created, now->partitions_made - before->partitions_made);
	metric_add(&ingester_partitions_dropped,
		   now->partitions_dropped - before->partitions_dropped);
	metric_add(&ingester_writers_terminated,
		   now->writers_terminated - before->writers_terminated);
}

static void *run(void *self)
{
	struct maintenance *maintenance = self;
	bool had_tables = false;

	while (!daemon_stopping()) {
		struct store_maintenance before = maintenance->store;
		struct err err;
		bool good = store_maintenance_run(&maintenance->store, &err);

		count(&maintenance->store, &before);
		had_tables = had_tables || good;
		/* At the first start the consumer has not created the tables yet. */
		if (!good && !daemon_stopping() && (had_tables || err.code != ERR_NOT_FOUND))
			log_warn("partitions not maintained, trying again", "error=\"%s\"",
				 err.msg);
		(void)daemon_wait(had_tables ? MAINTENANCE_WAIT_MS : RETRY_MS);
	}
	return NULL;
}

bool maintenance_start(struct maintenance *maintenance, const struct maintenance_options *options,
		       struct err *err)
{
	store_maintenance_init(&maintenance->store,
			       &(struct store_maintenance_options){
				       .postgres = options->postgres,
				       .retention_raw_ns = options->retention_raw_ns,
				       .retention_rollup_ns = options->retention_rollup_ns,
				       .cancel = daemon_cancel(),
			       });
	if (pthread_create(&maintenance->thread, NULL, run, maintenance) != 0)
		return err_set(err, ERR_IO, "cannot start the maintenance thread");
	maintenance->is_running = true;
	return true;
}

void maintenance_stop(struct maintenance *maintenance)
{
	if (maintenance->is_running)
		pthread_join(maintenance->thread, NULL);
	maintenance->is_running = false;
}
