// SPDX-License-Identifier: Apache-2.0
#include "ingester/maintain/maintenance.h"

#include "base/clock.h"
#include "base/liveness.h"
#include "base/log.h"
#include "ingester/ingester_limits.h"
#include "ingester/metrics.h"
#include "server/daemon.h"
#include "store/fleet/fleet.h"

static void count(const struct store_maintenance *now, const struct store_maintenance *before)
{
	metric_add(&ingester_partitions_created, now->partitions_made - before->partitions_made);
	metric_add(&ingester_partitions_dropped,
		   now->partitions_dropped - before->partitions_dropped);
	metric_add(&ingester_writers_terminated,
		   now->writers_terminated - before->writers_terminated);
	metric_set(&ingester_shared_hosts, (int64_t)now->shared_hosts);
}

/* Connects for each round: a connection would be idle for the rest of the minute. */
static bool read_balances(struct maintenance *maintenance, struct err *err)
{
	struct balance_watch *watch = &maintenance->watch;
	const struct store_bounds bounds = {
		.deadline_ns = clock_monotonic_ns() + BALANCE_READ_MS * NS_PER_MS,
		.cancel = daemon_cancel(),
	};
	const struct store_reader_options options = { .postgres = maintenance->postgres,
						      .wait_ms = BALANCE_READ_MS,
						      .cancel = daemon_cancel() };
	const struct fleet_sink sink = { .on_host = balance_watch_host, .self = watch };
	struct store_reader reader = { 0 };

	balance_watch_begin(watch, clock_monotonic_ns());

	bool done = store_reader_open(&reader, &options, err) &&
		    store_reader_begin(&reader, &bounds, err) &&
		    store_reader_fleet(&reader, STR(""), &sink, err);

	store_reader_end(&reader);
	store_reader_close(&reader);
	if (done)
		balance_watch_end(watch);
	else
		balance_watch_abort(watch);
	return done;
}

static void check_balances(struct maintenance *maintenance)
{
	struct err err;

	if (read_balances(maintenance, &err)) {
		metric_set(&ingester_hosts_stuck, (int64_t)maintenance->watch.stuck);
		metric_set(&ingester_hosts_unaccounted, (int64_t)maintenance->watch.unaccounted);
	} else if (!daemon_stopping()) {
		metric_add(&ingester_balance_errors, 1);
		log_warn("balances of hosts not read, trying again", "error=\"%s\"", err.msg);
	}
}

static void *run(void *self)
{
	struct maintenance *maintenance = self;
	bool had_tables = false;

	liveness_begin("maintenance");
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
		if (good)
			check_balances(maintenance);
		(void)daemon_wait(had_tables ? maintenance->pause_ms : RETRY_MS);
	}
	liveness_end();
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
	balance_watch_init(&maintenance->watch, options->balance_wait_ns);
	maintenance->postgres = options->postgres;
	maintenance->pause_ms = options->balance_wait_ns / NS_PER_MS < MAINTENANCE_WAIT_MS
					? options->balance_wait_ns / NS_PER_MS
					: MAINTENANCE_WAIT_MS;
	if (pthread_create(&maintenance->thread, NULL, run, maintenance) != 0)
		return err_set(err, ERR_IO, "cannot start the maintenance thread");
	pthread_setname_np(maintenance->thread, "maintenance");
	maintenance->is_running = true;
	return true;
}

void maintenance_stop(struct maintenance *maintenance)
{
	if (maintenance->is_running)
		pthread_join(maintenance->thread, NULL);
	maintenance->is_running = false;
	balance_watch_done(&maintenance->watch);
}
