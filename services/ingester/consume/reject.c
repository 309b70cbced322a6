// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/log.h"
#include "ingester/consume/reject_internal.h"
#include "ingester/metrics.h"
#include "server/daemon.h"

#include <inttypes.h>
#include <stdio.h>

enum { OWN_HEADERS = 4 }; /* headers that the rejection adds */
enum { DELIVERY_TIMEOUT_MS = 30000, CLOSE_TIMEOUT_MS = 500, POLL_MS = 100 };

static void on_report(void *self, uint64_t token, enum kafka_outcome fate, const char *why)
{
	struct reject *reject = self;

	(void)token;
	reject->fate = fate;
	if (fate != KAFKA_DELIVERED)
		log_warn("rejected message not copied", "why=\"%s\"", why);
}

bool reject_open(struct reject *reject, const char *brokers, const char *source, struct err *err)
{
	*reject = (struct reject){ .source = source };
	snprintf(reject->topic, sizeof(reject->topic), "%s.rejected", source);
	return kafka_producer_open(&reject->producer,
				   &(struct kafka_producer_options){
					   .brokers = brokers,
					   .topic = reject->topic,
					   .client_id = "decima-ingester",
					   .queue_max_kbytes = 128 << 10,
					   .report = on_report,
					   .self = reject,
				   },
				   err);
}

void reject_close(struct reject *reject)
{
	kafka_producer_close(&reject->producer, CLOSE_TIMEOUT_MS);
}

/* ERR_INVALID: Kafka will never accept this message. */
static bool send(struct reject *reject, const struct kafka_message *message, struct err *err)
{
	uint64_t deadline_ns = clock_monotonic_ns() + DELIVERY_TIMEOUT_MS * NS_PER_MS;

	reject->fate = KAFKA_OUTCOME_COUNT;
	if (!kafka_producer_send(&reject->producer, message, err))
		return err_wrap(err, "reject a message");
	while (reject->fate == KAFKA_OUTCOME_COUNT && clock_monotonic_ns() < deadline_ns &&
	       !daemon_stopping())
		kafka_producer_poll(&reject->producer, POLL_MS);
	return reject->fate == KAFKA_DELIVERED ||
	       err_set(err, reject->fate == KAFKA_REJECTED ? ERR_INVALID : ERR_IO,
		       "Kafka did not accept a rejected message into %s", reject->topic);
}

bool reject_message(struct reject *reject, const struct kafka_record *record, const char *reason,
		    const char *error, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	static const char *const copied[] = { "decima-epoch", "decima-seq", "decima-status" };
	struct kafka_header headers[OWN_HEADERS + ARRAY_LEN(copied)] = {
		{ "decima-reason", str_from(reason) },
		{ "decima-error", str_from(error) },
		{ "decima-source", str_format(&arena, "%s/%d/%" PRId64, reject->source,
					      record->partition, record->offset) },
		{ "decima-bytes", str_format(&arena, "%zu", record->value.len) },
	};
	struct kafka_message message = {
		.key = record->key,
		.value = record->value,
		.headers = headers,
		.header_count = OWN_HEADERS,
	};

	for (size_t i = 0; i < ARRAY_LEN(copied); i++) {
		str value = kafka_record_header(record, copied[i]);

		if (value.ptr)
			headers[message.header_count++] = (struct kafka_header){ copied[i], value };
	}
	if (send(reject, &message, err))
		return true;
	if (err->code != ERR_INVALID)
		return false;

	/* The broker's limit is on the compressed size, or was changed. The four headers always
	 * fit. */
	metric_add(&ingester_rejected_stripped, 1);
	message = (struct kafka_message){ .headers = headers, .header_count = OWN_HEADERS };
	return send(reject, &message, err) || err->code == ERR_INVALID;
}
