#include "reject.h"

#include "base/clock.h"
#include "base/log.h"
#include "chassis/daemon.h"

#include <inttypes.h>
#include <stdio.h>

enum { DELIVERY_TIMEOUT_MS = 30000, CLOSE_TIMEOUT_MS = 500, POLL_MS = 100 };

static void on_report(void *self, uint64_t token, enum kafka_fate fate, const char *why)
{
	struct reject *reject = self;

	(void)token;
	reject->reported = true;
	/* What Kafka will never take again was taken once, within another limit: let it go. */
	reject->delivered = fate != KAFKA_FAILED;
	if (fate != KAFKA_DELIVERED)
		log_warn("rejected message not kept", "why=\"%s\"", why);
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

bool reject_message(struct reject *reject, const struct kafka_record *record, const char *reason,
		    const char *error, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	static const char *const kept[] = { "decima-epoch", "decima-seq", "decima-status" };
	struct kafka_header headers[3 + ARRAY_LEN(kept)] = {
		{ "decima-reason", str_from(reason) },
		{ "decima-error", str_from(error) },
		{ "decima-source", str_format(&arena, "%s/%d/%" PRId64, reject->source,
					      record->partition, record->offset) },
	};
	size_t count = 3;
	uint64_t deadline_ns = clock_monotonic_ns() + DELIVERY_TIMEOUT_MS * NS_PER_MS;

	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		str value = kafka_record_header(record, kept[i]);

		if (value.ptr)
			headers[count++] = (struct kafka_header){ kept[i], value };
	}

	struct kafka_message message = {
		.key = record->key,
		.value = record->value,
		.headers = headers,
		.header_count = count,
	};

	reject->reported = reject->delivered = false;
	if (!kafka_producer_send(&reject->producer, &message, err))
		return err_wrap(err, "reject a message");
	while (!reject->reported && clock_monotonic_ns() < deadline_ns && !daemon_stopping())
		kafka_producer_poll(&reject->producer, POLL_MS);
	if (!reject->delivered)
		return err_set(err, ERR_IO, "Kafka did not take a rejected message into %s",
			       reject->topic);
	return true;
}
