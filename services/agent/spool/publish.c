// SPDX-License-Identifier: Apache-2.0
#include "agent/spool/publish.h"

#include "agent/spool/failpoints.h"
#include "base/clock.h"
#include "base/liveness.h"
#include "base/log.h"

#include <inttypes.h>
#include <signal.h>

enum {
	POLL_MS = 100,
	IDLE_MS = 500,
	PAUSE_FIRST_MS = 200,
	PAUSE_MAX_MS = 10000,
	CLOSE_MS = 100,
};

#define PUBLISH_METRICS(ROW)                                                                    \
	ROW(batches_sent_total, METRIC_COUNTER, "decima_agent_batches_sent_total",              \
	    "Batches that Kafka has acknowledged.")                                             \
	ROW(bytes_sent_total, METRIC_COUNTER, "decima_agent_bytes_sent_total",                  \
	    "Bytes of the batches that Kafka has acknowledged, uncompressed.")                  \
	ROW(sends_failed_total, METRIC_COUNTER, "decima_agent_sends_failed_total",              \
	    "Sends that failed; the batch is sent again.")                                      \
	ROW(spool_batches, METRIC_GAUGE, "decima_agent_spool_batches", "Batches in the spool.") \
	ROW(spool_bytes, METRIC_GAUGE, "decima_agent_spool_bytes",                              \
	    "Bytes of the batches in the spool.")                                               \
	ROW(spool_oldest, METRIC_GAUGE, "decima_agent_spool_oldest_seconds",                    \
	    "Age of the oldest batch in the spool.")                                            \
	ROW(spool_lost_batches, METRIC_COUNTER, "decima_agent_spool_lost_batches_total",        \
	    "Batches dropped by the spool, by reason.",                                         \
	    METRIC_LABEL("reason", spool_reason_names, SPOOL_REASON_COUNT))                     \
	ROW(spool_lost_samples, METRIC_COUNTER, "decima_agent_spool_lost_samples_total",        \
	    "Samples of batches dropped by the spool, by reason.",                              \
	    METRIC_LABEL("reason", spool_reason_names, SPOOL_REASON_COUNT))                     \
	ROW(spool_rate, METRIC_GAUGE, "decima_agent_spool_max_rate_bytes",                      \
	    "Current limit of bytes per second sent from the spool.")                           \
	ROW(spool_paced, METRIC_COUNTER, "decima_agent_spool_paced_seconds_total",              \
	    "Time that batches waited for the limit of bytes per second.", .unit = NS_PER_SECOND)

METRICS(publish_metrics, PUBLISH_METRICS);

static void gauges_set(struct publish *publish)
{
	struct spool_level level = spool_level_get(publish->spool);
	struct spool_lost lost = spool_lost_get(publish->spool);
	uint64_t now_ns = clock_unix_ns(), oldest_ns = level.oldest_unix_ns;
	uint64_t age_ns = oldest_ns && oldest_ns < now_ns ? now_ns - oldest_ns : 0;

	metric_set(&spool_batches, (int64_t)level.batches);
	metric_set(&spool_bytes, (int64_t)level.bytes);
	metric_set(&spool_oldest, (int64_t)(age_ns / NS_PER_SECOND));
	metric_set(&spool_rate, (int64_t)publish->pace.rate);
	for (size_t i = 0; i < SPOOL_REASON_COUNT; i++) {
		metric_set_at(&spool_lost_batches, i, (int64_t)lost.batches[i]);
		metric_set_at(&spool_lost_samples, i, (int64_t)lost.samples[i]);
	}
}

static void pause_longer(struct publish *publish)
{
	uint64_t ms = publish->pause_ms ? publish->pause_ms * 2 : PAUSE_FIRST_MS;

	publish->pause_ms = ms < PAUSE_MAX_MS ? ms : PAUSE_MAX_MS;
	publish->pause_until_ns = clock_monotonic_ns() + pace_jitter(publish->pause_ms) * NS_PER_MS;
}

/* Called from kafka_producer_poll() and _close(), so on this thread. */
static void on_report(void *self, uint64_t token, enum kafka_outcome fate, const char *why)
{
	struct publish *publish = self;
	struct publish_slot *slot = &publish->slots[token];

	switch (fate) {
	case KAFKA_DELIVERED:
		failpoint(&failpoint_at_report);
		spool_delivered(publish->spool, slot->epoch, slot->seq);
		metric_add(&batches_sent_total, 1);
		metric_add(&bytes_sent_total, slot->bytes);
		pace_delivered(&publish->pace, clock_monotonic_ns());
		publish->pause_ms = 0;
		publish->pause_until_ns = 0;
		break;
	case KAFKA_REJECTED:
		log_error("batch rejected by kafka", "seq=%" PRIu64 " why=\"%s\"", slot->seq, why);
		spool_rejected(publish->spool, slot->epoch, slot->seq);
		break;
	case KAFKA_FAILED:
	case KAFKA_OUTCOME_COUNT:
		spool_returned(publish->spool, slot->epoch, slot->seq);
		if (publish->stop_at_ns) /* expected: it stays in the spool */
			break;
		log_warn("batch not delivered", "seq=%" PRIu64 " why=\"%s\"", slot->seq, why);
		metric_add(&sends_failed_total, 1);
		pause_longer(publish);
		break;
	}
	slot->in_use = false;
	publish->in_flight--;
}

static bool producer_open(struct publish *publish, struct err *err)
{
	const struct publish_options *options = &publish->options;

	publish->producer_is_open = kafka_producer_open(
		&publish->producer,
		&(struct kafka_producer_options){ .brokers = options->brokers,
						  .topic = options->topic ? options->topic
									  : PUBLISH_TOPIC,
						  .client_id = "decima-agent",
						  .queue_max_kbytes = options->queue_max_kbytes,
						  .report = on_report,
						  .self = publish },
		err);
	return publish->producer_is_open;
}

static void producer_close(struct publish *publish, uint64_t timeout_ms)
{
	if (publish->producer_is_open)
		kafka_producer_close(&publish->producer, timeout_ms);
	publish->producer_is_open = false;
	/* A message without a delivery report counts as not delivered. */
	for (size_t i = 0; i < PACE_WINDOW_MAX; i++)
		if (publish->slots[i].in_use)
			on_report(publish, i, KAFKA_FAILED, "the producer was closed");
}

static size_t slot_free(const struct publish *publish)
{
	size_t i = 0;

	while (i < PACE_WINDOW_MAX && publish->slots[i].in_use)
		i++;
	return i;
}

/* Pass a batch to the Kafka client. ERR_LIMIT: its queue is full. */
static bool batch_send(struct publish *publish, const struct spool_batch *batch, size_t slot,
		       struct arena *arena, struct err *err)
{
	const struct kafka_header headers[] = {
		{ "decima-epoch", str_format(arena, "%" PRIu64, batch->epoch) },
		{ "decima-seq", str_format(arena, "%" PRIu64, batch->seq) },
		{ "decima-status", batch->status },
	};

	return kafka_producer_send(&publish->producer,
				   &(struct kafka_message){ .key = batch->key,
							    .value = batch->value,
							    .headers = headers,
							    .header_count = ARRAY_LEN(headers),
							    .token = slot },
				   err);
}

/* False: there is no batch to send, or no room in the client. */
static bool next_send(struct publish *publish)
{
	AUTO_ARENA arena = { 0 };
	size_t slot = slot_free(publish);
	struct spool_batch batch;
	struct err err;

	if (slot == PACE_WINDOW_MAX || !spool_next(publish->spool, &arena, &batch))
		return false;
	publish->slots[slot] = (struct publish_slot){
		.epoch = batch.epoch, .seq = batch.seq, .bytes = batch.value.len, .in_use = true
	};
	publish->in_flight++;
	if (batch_send(publish, &batch, slot, &arena, &err)) {
		pace_sent(&publish->pace, batch.value.len);
		failpoint(&failpoint_after_produce);
		return true;
	}
	if (err.code == ERR_LIMIT) { /* not a failure: it waits in the spool */
		publish->slots[slot].in_use = false;
		publish->in_flight--;
		spool_returned(publish->spool, batch.epoch, batch.seq);
		return false;
	}
	on_report(publish, slot, err.code == ERR_INVALID ? KAFKA_REJECTED : KAFKA_FAILED, err.msg);
	return true;
}

/* Replace a producer that had a fatal error. */
static void producer_heal(struct publish *publish)
{
	struct err err;

	if (publish->producer_is_open && !publish->producer.broken)
		return;
	producer_close(publish, CLOSE_MS);
	if (!producer_open(publish, &err)) {
		log_error("kafka producer not opened", "error=\"%s\"", err.msg);
		pause_longer(publish);
	}
}

static bool is_paused(const struct publish *publish)
{
	return clock_monotonic_ns() < publish->pause_until_ns;
}

/* Send all batches that may be sent now. True: the others wait for the limit of bytes per second.
 */
static bool send_all(struct publish *publish)
{
	while (!is_paused(publish)) {
		struct spool_level level = spool_level_get(publish->spool);
		enum pace_verdict verdict = pace_check(&publish->pace, level.put_rate,
						       publish->in_flight, clock_monotonic_ns());

		if (verdict == PACE_TOO_FAST)
			return level.batches > publish->in_flight;
		if (verdict == PACE_WINDOW_FULL || !next_send(publish))
			return false;
	}
	return false;
}

static void step(struct publish *publish)
{
	uint64_t began_ns = clock_monotonic_ns();

	if (!is_paused(publish))
		producer_heal(publish);
	if (!publish->producer_is_open) {
		clock_sleep_ms(POLL_MS);
		return;
	}

	bool is_paced = send_all(publish);

	if (publish->in_flight || is_paced || is_paused(publish)) {
		kafka_producer_poll(&publish->producer, POLL_MS);
	} else {
		kafka_producer_poll(&publish->producer, 0);
		spool_wait(publish->spool, IDLE_MS);
	}
	if (is_paced)
		metric_add(&spool_paced, (clock_monotonic_ns() - began_ns) / NS_PER_MS);
}

static bool must_continue(struct publish *publish)
{
	uint64_t stop_at_ns = publish->stop_at_ns;

	if (!stop_at_ns)
		return true;
	return clock_monotonic_ns() < stop_at_ns && spool_level_get(publish->spool).batches;
}

static void *publish_run(void *self)
{
	struct publish *publish = self;

	liveness_begin("publish");
	while (must_continue(publish)) {
		step(publish);
		gauges_set(publish);
	}
	liveness_end(); /* publish_stop()'s timeout bounds the end */
	producer_close(publish, CLOSE_MS);
	gauges_set(publish);
	return NULL;
}

bool publish_start(struct publish *publish, struct spool *spool,
		   const struct publish_options *options, struct err *err)
{
	sigset_t all, before;

	*publish = (struct publish){ .spool = spool, .options = *options };
	pace_init(&publish->pace, options->max_rate, clock_monotonic_ns());
	if (!producer_open(publish, err))
		return false;
	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	publish->running = pthread_create(&publish->thread, NULL, publish_run, publish) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!publish->running) {
		producer_close(publish, 0);
		return err_set(err, ERR_IO, "start the publishing thread");
	}
	pthread_setname_np(publish->thread, "publish");
	return true;
}

void publish_stop(struct publish *publish, uint64_t timeout_ms)
{
	if (!publish->running)
		return;
	publish->stop_at_ns = clock_monotonic_ns() + timeout_ms * NS_PER_MS;
	pthread_join(publish->thread, NULL);
	publish->running = false;
	log_info("publisher stopped", "batches_left_in_spool=%" PRIu64,
		 spool_level_get(publish->spool).batches);
}
