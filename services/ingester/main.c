// SPDX-License-Identifier: Apache-2.0
/*
 * decima-ingester - reads profiles from Kafka and stores each in PostgreSQL exactly once.
 */
#include "base/clock.h"
#include "base/heap.h"
#include "ingester/consume/consume.h"
#include "ingester/failpoints.h"
#include "ingester/ingester_limits.h"
#include "ingester/maintain/compact.h"
#include "ingester/maintain/maintenance.h"
#include "ingester/metrics.h"
#include "server/daemon.h"

struct settings {
	struct daemon_settings daemon;
	struct consume_options consume;
	uint64_t compaction_age_ns, retention_rollup_ns, balance_wait_ns;
	const char *failpoints;
};

static struct settings settings;

#define FIELD(name) offsetof(struct settings, consume.name)

static const struct conf_key keys[] = {
	DAEMON_KEYS(struct settings, daemon, "127.0.0.1:7072"),
	{ "kafka-brokers", CONF_STR, FIELD(brokers), .fallback = "127.0.0.1:9092",
	  .help = "Kafka bootstrap servers, separated by commas." },
	{ "kafka-topic", CONF_STR, FIELD(topic), .fallback = "otlp_profiles",
	  .help = "Topic that profiles are read from; rejected messages go to TOPIC.rejected." },
	{ "kafka-partitions", CONF_U64, FIELD(topic_partitions), .fallback = "64", .min = 1,
	  .max = 4096, .help = "Partitions of the topic, if the ingester has to create it." },
	{ "kafka-replication-factor", CONF_U64, FIELD(replication_factor), .fallback = "1",
	  .min = 1, .max = 15, .help = "Replicas of the topic, if the ingester has to create it." },
	{ "kafka-group", CONF_STR, FIELD(group), .fallback = "decima-ingester",
	  .help = "Consumer group; ingesters of one group share the partitions." },
	{ "kafka-session-timeout", CONF_DURATION, FIELD(session_ns), .fallback = "10s",
	  .min = NS_PER_SECOND, .max = 300 * NS_PER_SECOND,
	  .help = "An ingester that sends no heartbeat for this time loses its partitions to the "
		  "others and its open transaction in PostgreSQL. Kafka's brokers allow 6s and "
		  "more." },
	{ "postgres", CONF_STR, FIELD(postgres), .fallback = "postgresql://127.0.0.1:5432/decima",
	  .help = "PostgreSQL, as a libpq URI or connection string." },
	{ "flush-interval", CONF_DURATION, FIELD(flush_interval_ns), .fallback = "10s",
	  .min = 100 * NS_PER_MS, .max = 300 * NS_PER_SECOND,
	  .help = "Time between two flushes to PostgreSQL." },
	{ "compaction-age", CONF_DURATION, offsetof(struct settings, compaction_age_ns),
	  .fallback = "5m", .max = 3600 * NS_PER_SECOND,
	  .help = "Age at which raw rows of samples are compacted into fewer and larger ones; 0: "
		  "never." },
	{ "balance-wait", CONF_DURATION, offsetof(struct settings, balance_wait_ns),
	  .fallback = "10m", .min = NS_PER_SECOND,
	  .help = "How long the samples of a host may be in transit without becoming fewer, or be "
		  "unaccounted, before the log and the metrics report the host." },
	{ "retention-raw", CONF_DURATION, FIELD(retention_raw_ns), .fallback = "7d",
	  .min = 3600 * NS_PER_SECOND,
	  .help = "Age at which samples are dropped, one hour at a time." },
	{ "retention-rollup", CONF_DURATION, offsetof(struct settings, retention_rollup_ns),
	  .fallback = "90d", .min = 3600 * NS_PER_SECOND,
	  .help = "Age at which the hourly rollups are dropped, one day at a time." },
	{ "memory-limit", CONF_BYTES, FIELD(memory_limit), .fallback = "512MB", .min = 64 << 20,
	  .help = "Memory of the whole ingester. The limit holds from 256MB up; compaction and the "
		  "process itself need up to that much. An eighth of it may hold data that waits "
		  "for "
		  "a flush. Beyond that share the data is flushed at once; while that fails, "
		  "reading is paused." },
	{ "synchronous-commit", CONF_BOOL, FIELD(synchronous_commit), .fallback = "false",
	  .help = "Wait for PostgreSQL's disk at each flush. Not needed: after a crash the data "
		  "is read from Kafka again." },
	{ "failpoints", CONF_STR, offsetof(struct settings, failpoints), .fallback = "",
	  .help = "For tests: kill or stop this process at failpoints, NAME=kill|stop[:VISIT], "
		  "separated by commas; docs/failpoints.md lists them." },
};

static bool run(void *self, struct err *err)
{
	static struct consume consume;
	struct compact compact = { 0 };
	struct maintenance maintenance = { 0 };
	struct daemon_server server = { 0 };
	struct daemon_service service = { .self = &consume, .ready = consume_ready };
	const struct settings *loaded = self;

	heap_return_freed();
	if (!failpoint_arm(&ingester_failpoints, loaded->failpoints, err))
		return false;
	if (!daemon_serve(&server, &loaded->daemon, &service, err))
		return false;

	const struct compact_options compaction = { .postgres = loaded->consume.postgres,
						    .age_ns = loaded->compaction_age_ns };
	const struct maintenance_options maintenance_options = {
		.postgres = loaded->consume.postgres,
		.retention_raw_ns = loaded->consume.retention_raw_ns,
		.retention_rollup_ns = loaded->retention_rollup_ns,
		.balance_wait_ns = loaded->balance_wait_ns,
	};
	bool done = compact_start(&compact, &compaction, err) &&
		    maintenance_start(&maintenance, &maintenance_options, err) &&
		    consume_run(&consume, &loaded->consume, err);

	daemon_stop();
	compact_stop(&compact);
	maintenance_stop(&maintenance);
	daemon_unserve(&server);
	return done;
}

static struct metric *const *const metrics[] = { ingester_metrics, NULL };

int main(int argc, char **argv)
{
	return daemon_main(
		&(struct daemon_program){
			.conf = { "decima-ingester",
				  "Reads profiles from Kafka and stores them in PostgreSQL.", keys,
				  ARRAY_LEN(keys) },
			.settings = &settings,
			.daemon = &settings.daemon,
			.metrics = metrics,
			.run = run,
			.stop_ms = STOP_MS,
		},
		argc, argv);
}
