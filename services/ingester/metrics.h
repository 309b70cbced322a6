// SPDX-License-Identifier: Apache-2.0
/*
 * metrics - the ingester's metrics. Any thread may update them.
 */
#pragma once

#include "server/metrics/metrics.h"
#include "wire/otlp_reader.h"

/* Why a message was sent to the rejected topic: the decoder's reasons and three of the ingester. */
enum {
	REJECT_HEADERS = OTLP_PARTIAL_REASON,
	REJECT_BY_STORE,
	REJECT_CONFLICT,
	REJECT_REASON_COUNT
};

/* Why the decoder skipped or truncated something in a message that was accepted. */
enum { SKIPPED_REASON_COUNT = OTLP_REASON_COUNT - OTLP_PARTIAL_REASON };

/* ROW(variable, kind, name after "decima_ingester_", help, further fields of struct metric) */
#define INGESTER_METRICS(ROW)                                                                      \
	ROW(ingester_messages, METRIC_COUNTER, "messages_total", "Messages read from Kafka.")      \
	ROW(ingester_bytes, METRIC_COUNTER, "message_bytes_total",                                 \
	    "Bytes of the values of these messages.")                                              \
	ROW(ingester_samples, METRIC_COUNTER, "samples_total",                                     \
	    "Samples decoded and accepted for storing.")                                           \
	ROW(ingester_skipped, METRIC_COUNTER, "skipped_total",                                     \
	    "Samples, labels, stacks and names that were skipped or truncated, by reason.",        \
	    METRIC_LABEL("reason", otlp_reason_names + OTLP_PARTIAL_REASON, SKIPPED_REASON_COUNT)) \
	ROW(ingester_duplicates, METRIC_COUNTER, "duplicate_batches_total",                        \
	    "Batches dropped because they were received before.")                                  \
	ROW(ingester_late, METRIC_COUNTER, "late_batches_total",                                   \
	    "Batches received after one with a higher sequence number.")                           \
	ROW(ingester_rejected, METRIC_COUNTER, "rejected_messages_total",                          \
	    "Messages sent to the rejected topic, by reason.",                                     \
	    METRIC_LABEL("reason", reject_names, REJECT_REASON_COUNT))                             \
	ROW(ingester_rejected_stripped, METRIC_COUNTER, "rejected_stripped_total",                 \
	    "Rejected messages of which only reason and place were kept: Kafka does not accept "   \
	    "their size.")                                                                         \
	ROW(ingester_bad_status, METRIC_COUNTER, "bad_status_total",                               \
	    "decima-status headers that cannot be decoded.")                                       \
	ROW(ingester_gap, METRIC_COUNTER, "gap_batches_total",                                     \
	    "Missing batches that are no longer waited for, because too many are missing.")        \
	ROW(ingester_missed, METRIC_COUNTER, "missed_messages_total",                              \
	    "Messages that Kafka's retention removed before they were read.")                      \
	ROW(ingester_unreadable, METRIC_COUNTER, "unreadable_messages_total",                      \
	    "Messages skipped because their batch in Kafka cannot be decompressed.")               \
	ROW(ingester_topic_resets, METRIC_COUNTER, "topic_resets_total",                           \
	    "Partitions found recreated or truncated below the stored offset.")                    \
	ROW(ingester_unchecked, METRIC_COUNTER, "flushes_unchecked_total",                         \
	    "Flushes before which Kafka did not say whether the topic is still the one that was "  \
	    "read.")                                                                               \
	ROW(ingester_rebalances, METRIC_COUNTER, "rebalances_total",                               \
	    "Assignments of partitions by Kafka.")                                                 \
	ROW(ingester_rereads, METRIC_COUNTER, "rereads_total",                                     \
	    "Times that all buffers were dropped, to be read again from the stored offsets.")      \
	ROW(ingester_repeated, METRIC_COUNTER, "messages_repeated_total",                          \
	    "Messages that the Kafka client delivered again, found by their offset; all "          \
	    "buffers were dropped then, to be read again.")                                        \
	ROW(ingester_clients_left, METRIC_GAUGE, "kafka_clients_left",                             \
	    "Kafka clients that could not be freed in time and keep their memory and threads.",    \
	    .read = kafka_clients_left)                                                            \
	ROW(ingester_assigned, METRIC_GAUGE, "partitions_assigned",                                \
	    "Kafka partitions assigned to this ingester.")                                         \
	ROW(ingester_lag, METRIC_GAUGE, "lag_messages",                                            \
	    "Messages in the assigned partitions that were not read yet.")                         \
	ROW(ingester_lag_ms, METRIC_GAUGE, "lag_seconds",                                          \
	    "Age of the last message read from the partition furthest behind; 0: all were read.",  \
	    .unit = 1000)                                                                          \
	ROW(ingester_partition_lag, METRIC_GAUGE, "partition_lag_messages",                        \
	    "Messages of an assigned partition that were not read yet: Kafka's end offset less "   \
	    "the next offset, at the last attempt to flush.",                                      \
	    .label = "partition", .numbered = &lag_numbers)                                        \
	ROW(ingester_partition_newest, METRIC_GAUGE, "partition_newest_sample_timestamp_seconds",  \
	    "Unix time of the newest stored sample of an assigned partition, in whole seconds. "   \
	    "time() minus this value is the age of the newest data of its hosts.",                 \
	    .label = "partition", .numbered = &newest_numbers)                                     \
	ROW(ingester_buffered_bytes, METRIC_GAUGE, "buffered_bytes",                               \
	    "Memory of the data that waits for the next flush.")                                   \
	ROW(ingester_buffered_samples, METRIC_GAUGE, "buffered_samples",                           \
	    "Samples that wait for the next flush.")                                               \
	ROW(ingester_hosts, METRIC_GAUGE, "hosts", "Hosts in the cache.")                          \
	ROW(ingester_shared_hosts, METRIC_GAUGE, "shared_hosts",                                   \
	    "Host ids under which several agents sent in the last five minutes, once a minute: "   \
	    "cloned machines.")                                                                    \
	ROW(ingester_paused, METRIC_GAUGE, "paused",                                               \
	    "1 while reading is paused because memory is full.")                                   \
	ROW(ingester_pauses, METRIC_COUNTER, "pauses_total",                                       \
	    "Times that reading was paused because memory was full.")                              \
	ROW(ingester_flushes, METRIC_COUNTER, "flushes_total",                                     \
	    "Flushes to PostgreSQL that were committed.")                                          \
	ROW(ingester_flush_errors, METRIC_COUNTER, "flush_errors_total",                           \
	    "Flushes that failed and are retried.")                                                \
	ROW(ingester_flush_ns, METRIC_HISTOGRAM, "flush_duration_seconds",                         \
	    "Duration of a committed flush.", METRIC_IN_SECONDS)                                   \
	ROW(ingester_visible_ns, METRIC_HISTOGRAM, "visible_delay_seconds",                        \
	    "Time from a message's timestamp in Kafka to the commit that makes it visible to "     \
	    "queries; the oldest message of each partition and flush.",                            \
	    METRIC_IN_SECONDS)                                                                     \
	ROW(ingester_sample_delay_ns, METRIC_HISTOGRAM, "sample_delay_seconds",                    \
	    "Time from a message's newest sample, after which its host spooled it, to the commit " \
	    "that makes it visible to queries; the oldest message of each partition and flush.",   \
	    METRIC_IN_SECONDS)                                                                     \
	ROW(ingester_newest_sample_ms, METRIC_GAUGE, "newest_sample_timestamp_seconds",            \
	    "Unix time of the newest sample that was stored. time() minus this value is the age "  \
	    "of the newest data in a query.",                                                      \
	    .unit = 1000)                                                                          \
	ROW(ingester_samples_stored, METRIC_COUNTER, "samples_stored_total",                       \
	    "Samples of committed flushes.")                                                       \
	ROW(ingester_rows, METRIC_COUNTER, "rows_total", "Rows of samples written.")               \
	ROW(ingester_compacted_rows, METRIC_COUNTER, "compacted_rows_total",                       \
	    "Raw rows that were compacted into chunks (one hour of one bucket) or coalesced.")     \
	ROW(ingester_compacted_bytes, METRIC_COUNTER, "compacted_row_bytes_total",                 \
	    "Bytes of these rows.")                                                                \
	ROW(ingester_compacted_samples, METRIC_COUNTER, "compacted_samples_total",                 \
	    "Samples that compaction wrote into chunks.")                                          \
	ROW(ingester_coalesced_rows, METRIC_COUNTER, "coalesced_rows_total",                       \
	    "Rows written by coalescing several small rows; they wait for more of their hour.")    \
	ROW(ingester_chunks, METRIC_COUNTER, "chunks_total", "Chunks written.")                    \
	ROW(ingester_chunk_bytes, METRIC_COUNTER, "chunk_bytes_total", "Bytes of these chunks.")   \
	ROW(ingester_daily_rollups, METRIC_COUNTER, "daily_rollups_total",                         \
	    "Daily rollup rows written from hourly ones.")                                         \
	ROW(ingester_rolled_up_chunks, METRIC_COUNTER, "rolled_up_chunks_total",                   \
	    "Chunks that were added to an hourly rollup.")                                         \
	ROW(ingester_rolled_up_samples, METRIC_COUNTER, "rolled_up_samples_total",                 \
	    "Samples of these chunks.")                                                            \
	ROW(ingester_rollups, METRIC_COUNTER, "rollups_total", "Hourly rollup rows written.")      \
	ROW(ingester_rollup_bytes, METRIC_COUNTER, "rollup_bytes_total", "Bytes of these rows.")   \
	ROW(ingester_compaction_errors, METRIC_COUNTER, "compaction_errors_total",                 \
	    "Compactions and rollups that failed and are retried; they change nothing.")           \
	ROW(ingester_damaged_rows, METRIC_COUNTER, "damaged_rows_total",                           \
	    "Raw rows that compaction found corrupt; they stay unchanged.")                        \
	ROW(ingester_row_bytes, METRIC_COUNTER, "row_bytes_total", "Bytes of these rows.")         \
	ROW(ingester_fences_lost, METRIC_COUNTER, "fences_lost_total",                             \
	    "Partitions dropped from a flush because their offset or a host's row had changed.")   \
	ROW(ingester_series_new, METRIC_COUNTER, "series_new_total",                               \
	    "Series sent to PostgreSQL, counted once for each day of a series.")                   \
	ROW(ingester_cache_hits, METRIC_COUNTER, "series_cache_hits_total",                        \
	    "Series and names of sample labels found in the cache of stored ids at a flush.")      \
	ROW(ingester_cache_misses, METRIC_COUNTER, "series_cache_misses_total",                    \
	    "Series and names of sample labels not found in the cache of stored ids at a flush.")  \
	ROW(ingester_connections, METRIC_COUNTER, "postgres_connections_total",                    \
	    "Connections to PostgreSQL opened, including the first.")                              \
	ROW(ingester_writers_terminated, METRIC_COUNTER, "writers_terminated_total",               \
	    "Connections of other ingesters that were stuck and were terminated.")                 \
	ROW(ingester_hosts_stuck, METRIC_GAUGE, "hosts_stuck_in_transit",                          \
	    "Hosts of the whole fleet whose samples in transit have not become fewer for "         \
	    "--balance-wait, though they sent batches meanwhile; the log names them.")             \
	ROW(ingester_hosts_unaccounted, METRIC_GAUGE, "hosts_unaccounted",                         \
	    "Hosts of the whole fleet whose balance has not closed for --balance-wait; the log "   \
	    "names them.")                                                                         \
	ROW(ingester_balance_errors, METRIC_COUNTER, "balance_errors_total",                       \
	    "Times that the balances of the hosts could not be read; the next round tries again.") \
	ROW(ingester_partitions_created, METRIC_COUNTER, "partitions_created_total",               \
	    "Table partitions created.")                                                           \
	ROW(ingester_partitions_dropped, METRIC_COUNTER, "partitions_dropped_total",               \
	    "Table partitions dropped by retention.")

INGESTER_METRICS(METRIC_DECLARATION)

/* The name of a reason below REJECT_REASON_COUNT: static text, for the label of ingester_rejected
 * and the header `decima-reason` of the rejected message. */
const char *reject_reason_name(size_t reason);

/* For metrics_register(). */
extern struct metric *const ingester_metrics[];
