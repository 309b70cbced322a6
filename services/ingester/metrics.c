// SPDX-License-Identifier: Apache-2.0
#include "metrics.h"

#include "ingester_limits.h"

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
COUNTER(ingester_bytes, "message_bytes_total", "Bytes of the values of those messages.");
COUNTER(ingester_samples, "samples_total", "Samples taken for storing.");
COUNTER(ingester_duplicates, "duplicate_batches_total", "Batches that had been counted before.");
COUNTER(ingester_late, "late_batches_total", "Batches that came after a higher number.");
COUNTER(ingester_gap, "gap_batches_total",
	"Batches that never came and are waited for no more: too many are missing.");
COUNTER(ingester_rejected_stripped, "rejected_stripped_total",
	"Rejected messages of which only reason and place were kept: Kafka takes none so large.");
COUNTER(ingester_bad_status, "bad_status_total", "decima-status headers that cannot be read.");
COUNTER(ingester_missed, "missed_messages_total",
	"Messages that Kafka's retention removed before they were read.");
COUNTER(ingester_unreadable, "unreadable_messages_total",
	"Messages left out because their batch in Kafka cannot be unpacked.");
COUNTER(ingester_topic_resets, "topic_resets_total",
	"Partitions found recreated or truncated under our offset.");
COUNTER(ingester_flushes, "flushes_total", "Flushes to PostgreSQL that were committed.");
COUNTER(ingester_flush_errors, "flush_errors_total", "Flushes that failed and are tried again.");
COUNTER(ingester_samples_stored, "samples_stored_total", "Samples of committed flushes.");
COUNTER(ingester_rows, "rows_total", "Rows of samples written.");
COUNTER(ingester_row_bytes, "row_bytes_total", "Bytes of those rows.");
COUNTER(ingester_merged_rows, "merged_rows_total",
	"Rows as they came that were merged into chunks, the rows of an hour of a bucket, or "
	"joined.");
COUNTER(ingester_merged_bytes, "merged_row_bytes_total", "Bytes of those rows.");
COUNTER(ingester_merged_samples, "merged_samples_total", "Samples that came into chunks by that.");
COUNTER(ingester_joined_rows, "joined_rows_total",
	"Rows of few samples written, joined of others, that wait for more of their hour.");
COUNTER(ingester_chunks, "chunks_total", "Chunks written.");
COUNTER(ingester_chunk_bytes, "chunk_bytes_total", "Bytes of those chunks.");
COUNTER(ingester_day_rollups, "day_rollups_total",
	"Rows of sums of days written, of those of hours.");
COUNTER(ingester_rolled_chunks, "rolled_chunks_total", "Chunks that were summed up by the hour.");
COUNTER(ingester_rolled_samples, "rolled_samples_total", "Samples of those chunks.");
COUNTER(ingester_rollups, "rollups_total", "Rows of such sums written.");
COUNTER(ingester_rollup_bytes, "rollup_bytes_total", "Bytes of those rows.");
COUNTER(ingester_merge_errors, "merge_errors_total",
	"Merges, or sums, that failed and are tried again; nothing has changed.");
COUNTER(ingester_damaged_rows, "damaged_rows_total",
	"Rows found damaged when they were to be merged; they stay as they came.");
COUNTER(ingester_rebalances, "rebalances_total", "Assignments of partitions by Kafka.");
COUNTER(ingester_rereads, "rereads_total",
	"Times that all that was held was dropped, to be read again from the stored offsets.");
COUNTER(ingester_connections, "postgres_connections_total",
	"Connections to PostgreSQL begun; the first is one of them.");
COUNTER(ingester_fences_lost, "fences_lost_total",
	"Partitions dropped from a flush because their offset or a host of theirs had moved.");
COUNTER(ingester_series_new, "series_new_total", "Series of a day that were sent to PostgreSQL.");
COUNTER(ingester_cache_hits, "series_cache_hits_total",
	"Series, and names of sample labels, of a flush that were known to be stored.");
COUNTER(ingester_cache_misses, "series_cache_misses_total",
	"Series, and names of sample labels, of a flush that were not known to be stored.");
COUNTER(ingester_writers_ended, "writers_ended_total",
	"Connections of other ingesters that stood still and were ended.");
COUNTER(ingester_partitions_made, "partitions_made_total", "Table partitions created.");
COUNTER(ingester_partitions_dropped, "partitions_dropped_total",
	"Table partitions dropped by retention.");
GAUGE(ingester_assigned, "partitions_assigned", "Kafka partitions that are ours.");
GAUGE(ingester_lag, "lag_messages", "Messages in our partitions that were not read yet.");
GAUGE_OF_MS(
	ingester_lag_ms, "lag_seconds",
	"Age of the last message read, of the partition furthest behind; 0 where all were read.");
GAUGE_OF_MS(
	ingester_newest_sample_ms, "newest_sample_timestamp_seconds",
	"Unix time of the newest sample that was stored; time() - this is how fresh a query is.");
GAUGE(ingester_buffered_bytes, "buffered_bytes", "Memory held for the next flush.");
GAUGE(ingester_buffered_samples, "buffered_samples", "Samples held for the next flush.");
GAUGE(ingester_hosts, "hosts", "Hosts whose numbers are held.");
COUNTER(ingester_pauses, "pauses_total", "Times that reading was paused because memory was full.");
GAUGE(ingester_paused, "paused", "1 while reading is paused because memory is full.");

static _Atomic int64_t lag_cells[LAG_PARTITIONS_MAX];
static const struct metric_numbers lag_numbers = { LAG_PARTITIONS_MAX, lag_cells };
struct metric ingester_partition_lag = {
	.name = "decima_ingester_partition_lag_messages",
	.help = "Messages of a partition of ours that were not read yet: Kafka's end less the next "
		"offset, as of the last flush or try.",
	.kind = METRIC_GAUGE,
	.label = "partition",
	.numbers_of = &lag_numbers,
};

static _Atomic int64_t newest_cells[LAG_PARTITIONS_MAX];
static const struct metric_numbers newest_numbers = { LAG_PARTITIONS_MAX, newest_cells };
struct metric ingester_partition_newest = {
	.name = "decima_ingester_partition_newest_sample_timestamp_seconds",
	.help = "Unix time of the newest sample of a partition of ours that was stored, in whole "
		"seconds; time() - this is how fresh a query of its hosts is.",
	.kind = METRIC_GAUGE,
	.label = "partition",
	.numbers_of = &newest_numbers,
};

struct metric ingester_flush_ns = {
	.name = "decima_ingester_flush_duration_seconds",
	.help = "Time of a flush that was committed.",
	.kind = METRIC_HISTOGRAM,
	METRIC_IN_SECONDS,
};
struct metric ingester_visible_ns = {
	.name = "decima_ingester_visible_delay_seconds",
	.help = "From a message's time in Kafka to the commit that lets queries see it: the oldest "
		"of each partition and flush.",
	.kind = METRIC_HISTOGRAM,
	METRIC_IN_SECONDS,
};
struct metric ingester_sample_delay_ns = {
	.name = "decima_ingester_sample_delay_seconds",
	.help = "From a message's newest sample, behind which its host spooled it, to the commit "
		"that lets queries see it: the oldest of each partition and flush.",
	.kind = METRIC_HISTOGRAM,
	METRIC_IN_SECONDS,
};
struct metric ingester_skipped = {
	.name = "decima_ingester_skipped_total",
	.help = "Samples, labels, stacks and names not taken as they came, by reason.",
	.kind = METRIC_COUNTER,
	.label = "reason",
	.values = otlp_reason_names + OTLP_PART_REASON,
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
	return reason == REJECT_BY_STORE ? "refused_by_store" : otlp_reason_names[reason];
}

void ingester_metrics_register(void)
{
	static struct metric *const all[] = {
		&ingester_messages,
		&ingester_bytes,
		&ingester_samples,
		&ingester_skipped,
		&ingester_duplicates,
		&ingester_late,
		&ingester_rejected,
		&ingester_rejected_stripped,
		&ingester_bad_status,
		&ingester_gap,
		&ingester_missed,
		&ingester_unreadable,
		&ingester_topic_resets,
		&ingester_rebalances,
		&ingester_rereads,
		&ingester_assigned,
		&ingester_lag,
		&ingester_lag_ms,
		&ingester_partition_lag,
		&ingester_partition_newest,
		&ingester_buffered_bytes,
		&ingester_buffered_samples,
		&ingester_hosts,
		&ingester_paused,
		&ingester_pauses,
		&ingester_flushes,
		&ingester_flush_errors,
		&ingester_flush_ns,
		&ingester_visible_ns,
		&ingester_sample_delay_ns,
		&ingester_newest_sample_ms,
		&ingester_samples_stored,
		&ingester_rows,
		&ingester_merged_rows,
		&ingester_merged_bytes,
		&ingester_merged_samples,
		&ingester_joined_rows,
		&ingester_chunks,
		&ingester_chunk_bytes,
		&ingester_day_rollups,
		&ingester_rolled_chunks,
		&ingester_rolled_samples,
		&ingester_rollups,
		&ingester_rollup_bytes,
		&ingester_merge_errors,
		&ingester_damaged_rows,
		&ingester_row_bytes,
		&ingester_fences_lost,
		&ingester_series_new,
		&ingester_cache_hits,
		&ingester_cache_misses,
		&ingester_connections,
		&ingester_writers_ended,
		&ingester_partitions_made,
		&ingester_partitions_dropped,
	};

	for (size_t i = 0; i < REJECT_REASON_COUNT; i++)
		reject_names[i] = reject_reason_name(i);
	metrics_register(all, ARRAY_LEN(all));
}
