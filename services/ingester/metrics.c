// SPDX-License-Identifier: Apache-2.0
#include "ingester/metrics.h"

#include "ingester/ingester_limits.h"

#include <assert.h>

#define COUNTER(variable, id, text)            \
	struct metric variable = {             \
		.name = "decima_ingester_" id, \
		.help = text,                  \
		.kind = METRIC_COUNTER,        \
	}
#define GAUGE(variable, id, text)              \
	struct metric variable = {             \
		.name = "decima_ingester_" id, \
		.help = text,                  \
		.kind = METRIC_GAUGE,          \
	}
#define GAUGE_OF_MS(variable, id, text)        \
	struct metric variable = {             \
		.name = "decima_ingester_" id, \
		.help = text,                  \
		.kind = METRIC_GAUGE,          \
		.unit = 1000,                  \
	}

static const char *reject_names[REJECT_REASON_COUNT];

COUNTER(ingester_messages, "messages_total", "Messages read from Kafka.");
COUNTER(ingester_bytes, "message_bytes_total", "Bytes of the values of these messages.");
COUNTER(ingester_samples, "samples_total", "Samples decoded and accepted for storing.");
COUNTER(ingester_duplicates, "duplicate_batches_total",
	"Batches dropped because they were received before.");
COUNTER(ingester_late, "late_batches_total",
	"Batches received after one with a higher sequence number.");
COUNTER(ingester_gap, "gap_batches_total",
	"Missing batches that are no longer waited for, because too many are missing.");
COUNTER(ingester_rejected_stripped, "rejected_stripped_total",
	"Rejected messages of which only reason and place were kept: Kafka does not accept their "
	"size.");
COUNTER(ingester_bad_status, "bad_status_total", "decima-status headers that cannot be decoded.");
COUNTER(ingester_missed, "missed_messages_total",
	"Messages that Kafka's retention removed before they were read.");
COUNTER(ingester_unreadable, "unreadable_messages_total",
	"Messages skipped because their batch in Kafka cannot be decompressed.");
COUNTER(ingester_topic_resets, "topic_resets_total",
	"Partitions found recreated or truncated below the stored offset.");
COUNTER(ingester_flushes, "flushes_total", "Flushes to PostgreSQL that were committed.");
COUNTER(ingester_flush_errors, "flush_errors_total", "Flushes that failed and are retried.");
COUNTER(ingester_samples_stored, "samples_stored_total", "Samples of committed flushes.");
COUNTER(ingester_rows, "rows_total", "Rows of samples written.");
COUNTER(ingester_row_bytes, "row_bytes_total", "Bytes of these rows.");
COUNTER(ingester_compacted_rows, "compacted_rows_total",
	"Raw rows that were compacted into chunks (one hour of one bucket) or coalesced.");
COUNTER(ingester_compacted_bytes, "compacted_row_bytes_total", "Bytes of these rows.");
COUNTER(ingester_compacted_samples, "compacted_samples_total",
	"Samples that compaction wrote into chunks.");
COUNTER(ingester_coalesced_rows, "coalesced_rows_total",
	"Rows written by coalescing several small rows; they wait for more of their hour.");
COUNTER(ingester_chunks, "chunks_total", "Chunks written.");
COUNTER(ingester_chunk_bytes, "chunk_bytes_total", "Bytes of these chunks.");
COUNTER(ingester_daily_rollups, "daily_rollups_total",
	"Daily rollup rows written from hourly ones.");
COUNTER(ingester_rolled_up_chunks, "rolled_up_chunks_total",
	"Chunks that were added to an hourly rollup.");
COUNTER(ingester_rolled_up_samples, "rolled_up_samples_total", "Samples of these chunks.");
COUNTER(ingester_rollups, "rollups_total", "Hourly rollup rows written.");
COUNTER(ingester_rollup_bytes, "rollup_bytes_total", "Bytes of these rows.");
COUNTER(ingester_compaction_errors, "compaction_errors_total",
	"Compactions and rollups that failed and are retried; they change nothing.");
COUNTER(ingester_damaged_rows, "damaged_rows_total",
	"Raw rows that compaction found corrupt; they stay unchanged.");
COUNTER(ingester_rebalances, "rebalances_total", "Assignments of partitions by Kafka.");
COUNTER(ingester_rereads, "rereads_total",
	"Times that all buffers were dropped, to be read again from the stored offsets.");
COUNTER(ingester_connections, "postgres_connections_total",
	"Connections to PostgreSQL opened, including the first.");
COUNTER(ingester_fences_lost, "fences_lost_total",
	"Partitions dropped from a flush because their offset or a host's row had changed.");
COUNTER(ingester_series_new, "series_new_total",
	"Series sent to PostgreSQL, counted once for each day of a series.");
COUNTER(ingester_cache_hits, "series_cache_hits_total",
	"Series and names of sample labels found in the cache of stored ids at a flush.");
COUNTER(ingester_cache_misses, "series_cache_misses_total",
	"Series and names of sample labels not found in the cache of stored ids at a flush.");
COUNTER(ingester_writers_terminated, "writers_terminated_total",
	"Connections of other ingesters that were stuck and were terminated.");
COUNTER(ingester_partitions_created, "partitions_created_total", "Table partitions created.");
COUNTER(ingester_partitions_dropped, "partitions_dropped_total",
	"Table partitions dropped by retention.");
GAUGE(ingester_assigned, "partitions_assigned", "Kafka partitions assigned to this ingester.");
GAUGE(ingester_lag, "lag_messages", "Messages in the assigned partitions that were not read yet.");
GAUGE_OF_MS(ingester_lag_ms, "lag_seconds",
	    "Age of the last message read from the partition furthest behind; 0: all were read.");
GAUGE_OF_MS(
	ingester_newest_sample_ms, "newest_sample_timestamp_seconds",
	"Unix time of the newest sample that was stored. time() minus this value is the age of the "
	"newest data in a query.");
GAUGE(ingester_buffered_bytes, "buffered_bytes",
      "Memory of the data that waits for the next flush.");
GAUGE(ingester_buffered_samples, "buffered_samples", "Samples that wait for the next flush.");
GAUGE(ingester_hosts, "hosts", "Hosts in the cache.");
COUNTER(ingester_pauses, "pauses_total", "Times that reading was paused because memory was full.");
GAUGE(ingester_paused, "paused", "1 while reading is paused because memory is full.");

static _Atomic int64_t lag_cells[LAG_PARTITIONS_MAX];
static const struct metric_numbers lag_numbers = { LAG_PARTITIONS_MAX, lag_cells };
struct metric ingester_partition_lag = {
	.name = "decima_ingester_partition_lag_messages",
	.help = "Messages of an assigned partition that were not read yet: Kafka's end offset less "
		"the next offset, at the last attempt to flush.",
	.kind = METRIC_GAUGE,
	.label = "partition",
	.numbered = &lag_numbers,
};

static _Atomic int64_t newest_cells[LAG_PARTITIONS_MAX];
static const struct metric_numbers newest_numbers = { LAG_PARTITIONS_MAX, newest_cells };
struct metric ingester_partition_newest = {
	.name = "decima_ingester_partition_newest_sample_timestamp_seconds",
	.help = "Unix time of the newest stored sample of an assigned partition, in whole seconds. "
		"time() minus this value is the age of the newest data of its hosts.",
	.kind = METRIC_GAUGE,
	.label = "partition",
	.numbered = &newest_numbers,
};

struct metric ingester_flush_ns = {
	.name = "decima_ingester_flush_duration_seconds",
	.help = "Duration of a committed flush.",
	.kind = METRIC_HISTOGRAM,
	METRIC_IN_SECONDS,
};
struct metric ingester_visible_ns = {
	.name = "decima_ingester_visible_delay_seconds",
	.help = "Time from a message's timestamp in Kafka to the commit that makes it visible to "
		"queries; the oldest message of each partition and flush.",
	.kind = METRIC_HISTOGRAM,
	METRIC_IN_SECONDS,
};
struct metric ingester_sample_delay_ns = {
	.name = "decima_ingester_sample_delay_seconds",
	.help = "Time from a message's newest sample, after which its host spooled it, to the "
		"commit that makes it visible to queries; the oldest message of each partition "
		"and flush.",
	.kind = METRIC_HISTOGRAM,
	METRIC_IN_SECONDS,
};
struct metric ingester_skipped = {
	.name = "decima_ingester_skipped_total",
	.help = "Samples, labels, stacks and names that were skipped or truncated, by reason.",
	.kind = METRIC_COUNTER,
	.label = "reason",
	.values = otlp_reason_names + OTLP_PARTIAL_REASON,
	.value_count = SKIPPED_REASON_COUNT,
};
struct metric ingester_rejected = {
	.name = "decima_ingester_rejected_messages_total",
	.help = "Messages sent to the rejected topic, by reason.",
	.kind = METRIC_COUNTER,
	.label = "reason",
	.values = reject_names,
	.value_count = REJECT_REASON_COUNT,
};

const char *reject_reason_name(size_t reason)
{
	assert(reason < REJECT_REASON_COUNT);
	if (reason == REJECT_HEADERS)
		return "bad_headers";
	return reason == REJECT_BY_STORE ? "rejected_by_store" : otlp_reason_names[reason];
}

void ingester_metrics_register(void)
{
	static METRICS(
		all, &ingester_messages, &ingester_bytes, &ingester_samples, &ingester_skipped,
		&ingester_duplicates, &ingester_late, &ingester_rejected,
		&ingester_rejected_stripped, &ingester_bad_status, &ingester_gap, &ingester_missed,
		&ingester_unreadable, &ingester_topic_resets, &ingester_rebalances,
		&ingester_rereads, &ingester_assigned, &ingester_lag, &ingester_lag_ms,
		&ingester_partition_lag, &ingester_partition_newest, &ingester_buffered_bytes,
		&ingester_buffered_samples, &ingester_hosts, &ingester_paused, &ingester_pauses,
		&ingester_flushes, &ingester_flush_errors, &ingester_flush_ns, &ingester_visible_ns,
		&ingester_sample_delay_ns, &ingester_newest_sample_ms, &ingester_samples_stored,
		&ingester_rows, &ingester_compacted_rows, &ingester_compacted_bytes,
		&ingester_compacted_samples, &ingester_coalesced_rows, &ingester_chunks,
		&ingester_chunk_bytes, &ingester_daily_rollups, &ingester_rolled_up_chunks,
		&ingester_rolled_up_samples, &ingester_rollups, &ingester_rollup_bytes,
		&ingester_compaction_errors, &ingester_damaged_rows, &ingester_row_bytes,
		&ingester_fences_lost, &ingester_series_new, &ingester_cache_hits,
		&ingester_cache_misses, &ingester_connections, &ingester_writers_terminated,
		&ingester_partitions_created, &ingester_partitions_dropped);

	for (size_t i = 0; i < REJECT_REASON_COUNT; i++)
		reject_names[i] = reject_reason_name(i);
	metrics_register(all);
}
