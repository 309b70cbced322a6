// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/log.h"
#include "ingester/consume/message_internal.h"
#include "ingester/metrics.h"
#include "profile/limits.h"
#include "wire/otlp_reader.h"
#include "wire/status.h"

#include <inttypes.h>

/* A message being processed, and its host (NULL: the message has no batch number). */
struct message {
	struct consume *consume;
	struct partition_buffer *buffer;
	const struct kafka_record *record;
	struct host *host;
};

static bool reject(struct message *message, size_t reason, const struct err *why, struct err *err)
{
	const struct kafka_record *record = message->record;

	if (!reject_message(&message->consume->reject, record, reject_reason_name(reason), why->msg,
			    err))
		return false;
	log_warn("message rejected",
		 "partition=%" PRId32 " offset=%" PRId64 " reason=%s error=\"%s\"",
		 record->partition, record->offset, reject_reason_name(reason), why->msg);
	metric_add_at(&ingester_rejected, reason, 1);
	return true;
}

/* A poison message may be read several times before its rejection is stored; report it once. */
static bool reject_poison(struct message *message, struct poison_message *found, struct err *err)
{
	struct err why;

	err_set(&why, ERR_INVALID, "PostgreSQL rejects the data of this message");
	found->is_reported = found->is_reported || reject(message, REJECT_BY_STORE, &why, err);
	return found->is_reported;
}

static void count_skipped(struct message *message, const struct otlp_result *result)
{
	for (size_t i = 0; i < SKIPPED_REASON_COUNT; i++)
		metric_add_at(&ingester_skipped, i, result->counts[OTLP_PARTIAL_REASON + i]);
	if (!message->host)
		return;
	message->host->store.skipped +=
		result->counts[OTLP_TOO_OLD] + result->counts[OTLP_TOO_FAR_AHEAD];
	message->host->store.too_far_ahead += result->counts[OTLP_TOO_FAR_AHEAD];
}

/* Decode into a separate set, so that a rejected message leaves nothing in the buffer. */
static bool decode(struct message *message, bool *ret_rejected, struct err *err)
{
	struct consume *consume = message->consume;
	uint64_t now_ms = clock_unix_ns() / NS_PER_MS;
	uint64_t retention_ms = consume->options->retention_raw_ns / NS_PER_MS;
	struct otlp_options options = {
		.min_time_ms = now_ms > retention_ms ? now_ms - retention_ms : 0,
		.max_time_ms = now_ms + AHEAD_MAX_MS,
	};
	struct otlp_result result = { 0 };
	struct sample_set set;
	struct err why;
	struct poison_message *found =
		poison_find(&consume->poison, message->record->partition, message->record->offset);

	if (found) {
		*ret_rejected = true;
		return reject_poison(message, found, err);
	}
	arena_reset(&consume->message_arena);
	sample_set_init(&set, &consume->message_arena);
	if (!otlp_read(message->record->value, &options, &set, &result, &why)) {
		*ret_rejected = true;
		return reject(message, result.rejected, &why, err);
	}
	*ret_rejected = false;
	count_skipped(message, &result);
	partition_buffer_add_samples(message->buffer, &set);
	metric_add(&ingester_samples, set.samples.len);
	if (message->host)
		message->host->store.stored += set.samples.len;
	return true;
}

/* A batch under a number that was received. Equal contents: the same batch, sent twice. */
static bool process_received(struct message *message, const struct batch_number *number,
			     uint32_t hash, str status, struct err *err)
{
	struct store_host *host = &message->host->store;
	struct err why;

	if (!batch_hashes_differ(&host->hashes, host->seen.highest, number->sequence, hash)) {
		host->duplicate_batches++;
		metric_add(&ingester_duplicates, 1);
		return true;
	}
	err_set(&why, ERR_INVALID,
		"batch %" PRIu64 " of host " STR_FMT " was received with other contents",
		number->sequence, STR_ARG(number->host));
	if (!reject(message, REJECT_CONFLICT, &why, err))
		return false;
	host_count_conflict(message->host, status, message->record->value.len);
	return true;
}

/* Records the number of a batch whose samples are in the buffer, or which was rejected. */
static void receive(struct message *message, uint64_t sequence, uint32_t hash, str status)
{
	struct arena *arena = &message->consume->hosts.arena;
	struct store_host *host = &message->host->store;
	uint64_t gap = host->seen.gap, highest = host->seen.highest;
	struct err why;

	batch_hashes_add(&host->hashes, highest, sequence, hash, arena);

	enum received_verdict verdict = received_set_add(&host->seen, sequence, arena);

	metric_add(&ingester_gap, host->seen.gap - gap);
	if (verdict == RECEIVED_LATE) { /* its status is older than the current one */
		metric_add(&ingester_late, 1);
		host_count_late(message->host, status);
	} else if (status.ptr &&
		   !host_update(message->host, status, sequence - highest - 1, &why)) {
		metric_add(&ingester_bad_status, 1);
		log_debug("status not decoded", "error=\"%s\"", why.msg);
	}
	transit_settle(&host->transit, &host->seen);
}

/*
 * The sequence number is recorded here first, and in the table by the flush, in one transaction
 * with the samples. It is recorded only after the last step that can fail, so that a retry of the
 * same record does not find its own number and drop itself as a duplicate.
 */
static bool process_numbered(struct message *message, const struct batch_number *number,
			     struct err *err)
{
	struct consume *consume = message->consume;
	str status = kafka_record_header(message->record, "decima-status");
	uint32_t hash = batch_hash(message->record->value);
	bool rejected;

	message->host = hosts_find(&consume->hosts, number, &consume->store, err);
	if (!message->host)
		return false;

	struct store_host *host = &message->host->store;

	partition_buffer_add_host(message->buffer, host);
	if (received_set_has(&host->seen, number->sequence))
		return process_received(message, number, hash, status, err);
	if (!decode(message, &rejected, err))
		return false;
	if (rejected)
		host_count_rejected(message->host, status);

	receive(message, number->sequence, hash, status);
	return true;
}

bool message_process(struct consume *consume, struct partition_buffer *buffer,
		     const struct kafka_record *record, struct err *err)
{
	struct message message = { .consume = consume, .buffer = buffer, .record = record };
	struct batch_number number;
	struct err why;
	bool rejected, done;

	if (!batch_number_parse(record->key, kafka_record_header(record, "decima-epoch"),
				kafka_record_header(record, "decima-seq"), &number, &why))
		done = reject(&message, REJECT_HEADERS, &why, err);
	else if (number.is_present)
		done = process_numbered(&message, &number, err);
	else
		done = decode(&message, &rejected, err);
	if (!done)
		return false;
	metric_add(&ingester_messages, 1);
	metric_add(&ingester_bytes, record->value.len);
	partition_buffer_advance(buffer, record);
	return true;
}
