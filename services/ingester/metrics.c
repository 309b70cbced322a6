#include "metrics.h"

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

static const char *reject_names[REJECT_REASON_COUNT];

COUNTER(ingester_messages, "messages_total", "Messages read from Kafka.");
COUNTER(ingester_bytes, "message_bytes_total", "Bytes of the values of those messages.");
COUNTER(ingester_samples, "samples_total", "Samples taken for storing.");
COUNTER(ingester_duplicates, "duplicate_batches_total", "Batches that had been counted before.");
COUNTER(ingester_late, "late_batches_total", "Batches that came after a higher number.");
COUNTER(ingester_gap, "gap_batches_total",
	"Batches that never came and are waited for no more: too many are missing.");
COUNTER(ingester_bad_status, "bad_status_total", "decima-status headers that cannot be read.");
COUNTER(ingester_missed, "missed_messages_total",
	"Messages that Kafka's retention removed before they were read.");
COUNTER(ingester_topic_resets, "topic_resets_total",
	"Partitions found recreated or truncated under our offset.");
COUNTER(ingester_flushes, "flushes_total", "Flushes to PostgreSQL that were committed.");
COUNTER(ingester_flush_errors, "flush_errors_total", "Flushes that failed and are tried again.");
COUNTER(ingester_flush_ms, "flush_milliseconds_total", "Time spent in flushes.");
COUNTER(ingester_rows, "rows_total", "Rows of samples written.");
COUNTER(ingester_row_bytes, "row_bytes_total", "Bytes of those rows.");
COUNTER(ingester_fences_lost, "fences_lost_total",
	"Partitions dropped from a flush because their offset or a host of theirs had moved.");
COUNTER(ingester_series_new, "series_new_total", "Series and label pairs sent to PostgreSQL.");
COUNTER(ingester_series_known, "series_known_total", "Series found in the cache of known ones.");
COUNTER(ingester_partitions_made, "partitions_made_total", "Table partitions created.");
COUNTER(ingester_partitions_dropped, "partitions_dropped_total",
	"Table partitions dropped by retention.");
GAUGE(ingester_assigned, "partitions_assigned", "Kafka partitions that are ours.");
GAUGE(ingester_lag, "lag_messages", "Messages in our partitions that were not read yet.");
GAUGE(ingester_buffered_bytes, "buffered_bytes", "Memory held for the next flush.");
GAUGE(ingester_buffered_samples, "buffered_samples", "Samples held for the next flush.");
GAUGE(ingester_hosts, "hosts", "Hosts whose numbers are held.");
GAUGE(ingester_paused, "paused", "1 while reading is paused because memory is full.");

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
		&ingester_bad_status,
		&ingester_gap,
		&ingester_missed,
		&ingester_topic_resets,
		&ingester_flushes,
		&ingester_flush_errors,
		&ingester_flush_ms,
		&ingester_rows,
		&ingester_row_bytes,
		&ingester_fences_lost,
		&ingester_series_new,
		&ingester_series_known,
		&ingester_partitions_made,
		&ingester_partitions_dropped,
		&ingester_assigned,
		&ingester_lag,
		&ingester_buffered_bytes,
		&ingester_buffered_samples,
		&ingester_hosts,
		&ingester_paused,
	};

	for (size_t i = 0; i < REJECT_REASON_COUNT; i++)
		reject_names[i] = reject_reason_name(i);
	metrics_register(all, ARRAY_LEN(all));
}
