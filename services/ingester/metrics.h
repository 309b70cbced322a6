// SPDX-License-Identifier: Apache-2.0
/*
 * metrics - the ingester's metrics. Any thread may update them.
 */
#pragma once

#include "server/metrics/metrics.h"
#include "wire/otlp_reader.h"

/* Why a message was sent to the rejected topic: the decoder's reasons and two of the ingester. */
enum { REJECT_HEADERS = OTLP_PARTIAL_REASON, REJECT_BY_STORE, REJECT_REASON_COUNT };

/* Why the decoder skipped or truncated something in a message that was accepted. */
enum { SKIPPED_REASON_COUNT = OTLP_REASON_COUNT - OTLP_PARTIAL_REASON };

extern struct metric ingester_messages, ingester_bytes, ingester_samples, ingester_skipped,
	ingester_duplicates, ingester_late, ingester_rejected, ingester_gap,
	ingester_rejected_stripped, ingester_bad_status, ingester_missed, ingester_unreadable,
	ingester_topic_resets, ingester_flushes, ingester_flush_errors, ingester_flush_ns,
	ingester_rows, ingester_row_bytes, ingester_fences_lost, ingester_series_new,
	ingester_cache_hits, ingester_cache_misses, ingester_partitions_created,
	ingester_partitions_dropped, ingester_assigned, ingester_lag, ingester_buffered_bytes,
	ingester_buffered_samples, ingester_hosts, ingester_paused, ingester_pauses,
	ingester_samples_stored, ingester_rebalances, ingester_rereads, ingester_connections,
	ingester_lag_ms, ingester_newest_sample_ms, ingester_partition_lag,
	ingester_sample_delay_ns, ingester_visible_ns, ingester_writers_terminated,
	ingester_compacted_rows, ingester_compacted_bytes, ingester_compacted_samples,
	ingester_coalesced_rows, ingester_chunks, ingester_chunk_bytes, ingester_rolled_up_chunks,
	ingester_rolled_up_samples, ingester_daily_rollups, ingester_rollups, ingester_rollup_bytes,
	ingester_compaction_errors, ingester_damaged_rows, ingester_partition_newest;

/* The name of a reason below REJECT_REASON_COUNT: static text, for the label of ingester_rejected
 * and the header `decima-reason` of the rejected message. */
const char *reject_reason_name(size_t reason);

/* Registers all these metrics for /metrics. Call it once, before threads start. Cannot fail. */
void ingester_metrics_register(void);
