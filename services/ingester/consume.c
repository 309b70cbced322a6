#include "consume.h"

#include "base/clock.h"
#include "base/log.h"
#include "chassis/daemon.h"
#include "client/kafka_topic.h"
#include "metrics.h"
#include "take.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	POLL_MS = 200,
	RETRY_MS = 1000,
	BACKOFF_MAX_MS = 10000,
	MAINTAIN_INTERVAL_S = 60,
	REJECTED_PARTITIONS = 1,
};

#define TOPIC_RETENTION_MS UINT64_C(86400000)
#define KNOWN_SERIES_MAX   UINT64_C(1000000)
#define QUEUE_SHARE        8 /* of the memory limit, for what librdkafka fetches ahead */

static const char *const state_texts[CONSUME_STATE_COUNT] = {
	[CONSUME_OPENING_STORE] = "waiting for PostgreSQL",
	[CONSUME_OPENING_TOPIC] = "waiting for Kafka",
	[CONSUME_JOINING] = "waiting for Kafka to assign partitions",
	[CONSUME_RUNNING] = "running",
	[CONSUME_STORE_AWAY] = "PostgreSQL takes no data; it stays in Kafka meanwhile",
};

bool consume_ready(void *self, struct err *why)
{
	struct consume *consume = self;
	int state = consume->state;

	if (state == CONSUME_RUNNING)
		return true;
	return err_set(why, ERR_IO, "%s", state_texts[state]);
}

static void drop_parts(struct consume *consume)
{
	for (size_t i = 0; i < consume->part_count; i++)
		part_done(&consume->parts[i]);
	consume->parts = NULL;
	consume->part_count = 0;
	consume->by_partition = NULL;
	consume->partition_end = 0;
	arena_reset(&consume->assignment);
	hosts_clear(&consume->hosts);
	metric_set(&ingester_assigned, 0);
}

static void on_revoked(void *self)
{
	struct consume *consume = self;

	drop_parts(consume);
	consume->is_paused = false; /* a new assignment is not */
	consume->state = CONSUME_JOINING;
}

static void index_parts(struct consume *consume)
{
	for (size_t i = 0; i < consume->part_count; i++)
		if ((size_t)consume->parts[i].to.partition >= consume->partition_end)
			consume->partition_end = (size_t)consume->parts[i].to.partition + 1;
	consume->by_partition =
		arena_array(&consume->assignment, struct part *, consume->partition_end);
	for (size_t i = 0; i < consume->part_count; i++)
		consume->by_partition[consume->parts[i].to.partition] = &consume->parts[i];
}

/* Where each partition begins is in PostgreSQL alone: without it there is nothing to begin with. */
static bool on_assigned(void *self, struct kafka_position *positions, size_t count)
{
	struct consume *consume = self;
	struct store_offset *offsets;
	struct err err;

	drop_parts(consume);
	offsets = arena_array(&consume->assignment, struct store_offset, count);
	for (size_t i = 0; i < count; i++)
		offsets[i].partition = positions[i].partition;
	while (!store_writer_offsets(&consume->store, offsets, count, &consume->assignment, &err)) {
		log_warn("offsets not read, trying again", "error=\"%s\"", err.msg);
		consume->state = CONSUME_STORE_AWAY;
		if (!daemon_wait(RETRY_MS))
			return false;
	}
	consume->parts = arena_array(&consume->assignment, struct part, count);
	consume->part_count = count;
	for (size_t i = 0; i < count; i++) {
		part_init(&consume->parts[i], &offsets[i]);
		if (offsets[i].partition == consume->detour.partition)
			part_skip_to(&consume->parts[i], consume->detour.offset);
		positions[i].offset = part_start(&consume->parts[i]);
	}
	index_parts(consume);
	consume->detour.partition = -1;
	metric_set(&ingester_assigned, (int64_t)count);
	consume->state = CONSUME_RUNNING;
	return true;
}

/* Drop everything and read it again from the offsets in PostgreSQL. */
static void restart(struct consume *consume)
{
	struct err err;

	while (!kafka_consumer_restart(&consume->consumer, &err)) {
		log_warn("cannot begin again, trying again", "error=\"%s\"", err.msg);
		if (!daemon_wait(RETRY_MS))
			return;
	}
}

/* The topic does not have what is next: say why, and go on where it begins. */
static void take_detour(struct consume *consume, const struct part *part)
{
	int64_t wanted = part->to.next < 0 ? 0 : part->to.next, first, end;
	int32_t partition = part->to.partition;
	struct err err;

	while (!kafka_consumer_range(&consume->consumer, partition, &first, &end, &err)) {
		log_warn("cannot find the topic's range", "error=\"%s\"", err.msg);
		if (!daemon_wait(RETRY_MS))
			return;
	}
	consume->detour = (struct detour){ partition, first };
	if (first > wanted) {
		log_warn("messages gone before they were read",
			 "partition=%" PRId32 " from=%" PRId64 " to=%" PRId64, partition, wanted,
			 first);
		metric_add(&ingester_missed, (uint64_t)(first - wanted));
	} else if (first < wanted) {
		log_warn("topic was recreated or truncated, reading it from its beginning",
			 "partition=%" PRId32 " expected=%" PRId64 " first=%" PRId64
			 " end=%" PRId64,
			 partition, wanted, first, end);
		metric_add(&ingester_topic_resets, 1);
	}
	restart(consume);
}

static struct part *part_find(const struct consume *consume, int32_t partition)
{
	if (partition < 0 || (size_t)partition >= consume->partition_end)
		return NULL;
	return consume->by_partition[partition];
}

static size_t held(const struct consume *consume)
{
	size_t bytes = hosts_held(&consume->hosts);

	for (size_t i = 0; i < consume->part_count; i++)
		bytes += consume->parts[i].arena.held;
	return bytes;
}

/* The dirty parts as the store wants them. */
static struct store_part *dirty_parts(const struct consume *consume, struct arena *arena,
				      struct part ***ret_parts, size_t *ret_count)
{
	struct store_part *dirty = arena_array(arena, struct store_part, consume->part_count);
	struct part **parts = arena_array(arena, struct part *, consume->part_count);
	size_t count = 0;

	for (size_t i = 0; i < consume->part_count; i++) {
		struct part *part = &consume->parts[i];

		if (!part->is_dirty)
			continue;
		parts[count] = part;
		dirty[count++] = (struct store_part){
			.from = part->from,
			.to = part->to,
			.samples = part->samples.samples.len ? &part->samples : NULL,
			.hosts = part->hosts.items,
			.host_count = part->hosts.len,
		};
	}
	*ret_parts = parts;
	*ret_count = count;
	return dirty;
}

static void count_flush(struct consume *consume, const struct store_flush *flush, uint64_t took_ns)
{
	struct store_writer *store = &consume->store;

	metric_add(&ingester_flushes, 1);
	metric_add(&ingester_flush_ms, took_ns / NS_PER_MS);
	metric_add(&ingester_rows, flush->rows);
	metric_add(&ingester_row_bytes, flush->bytes);
	metric_set(&ingester_fences_lost, (int64_t)store->fences_lost);
	metric_set(&ingester_series_new, (int64_t)store->series_new);
	metric_set(&ingester_series_known, (int64_t)store->series_known);
	log_debug("flushed", "rows=%" PRIu64 " samples=%" PRIu64 " took_ms=%" PRIu64, flush->rows,
		  flush->samples, took_ns / NS_PER_MS);
}

/* The server refuses the data themselves: find whose they are. False: that did not help. */
static bool on_refused(struct consume *consume, struct part *const *parts, size_t count,
		       const struct err *err)
{
	uint64_t messages = 0;
	const struct part *last = parts[0];

	for (size_t i = 0; i < count; i++) {
		messages += parts[i]->messages;
		last = parts[i]->messages ? parts[i] : last;
	}
	switch (culprit_refused(&consume->culprit, messages, last->to.partition,
				last->to.next - 1)) {
	case CULPRIT_SEARCH:
		log_warn("data refused, looking for whose they are",
			 "messages=%" PRIu64 " error=\"%s\"", messages, err->msg);
		break;
	case CULPRIT_FOUND:
		log_warn("data refused, the message will be rejected",
			 "partition=%" PRId32 " offset=%" PRId64 " error=\"%s\"",
			 last->to.partition, last->to.next - 1, err->msg);
		break;
	case CULPRIT_LOST:
		return false;
	}
	metric_add(&ingester_flush_errors, 1);
	restart(consume);
	return true;
}

/* True when everything is stored, or was dropped to be read again. */
static bool flush(struct consume *consume, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct store_flush result = { 0 };
	struct part **parts;
	size_t count, lost = 0;
	struct store_part *dirty = dirty_parts(consume, &arena, &parts, &count);
	uint64_t start_ns = clock_monotonic_ns();

	if (count == 0)
		return true;
	if (!store_writer_flush(&consume->store, dirty, count, &result, err))
		return err->code == ERR_INVALID && on_refused(consume, parts, count, err);
	for (size_t i = 0; i < count; i++) {
		lost += dirty[i].lost;
		culprit_stored(&consume->culprit, parts[i]->messages);
		if (!dirty[i].lost)
			part_stored(parts[i]);
	}
	count_flush(consume, &result, clock_monotonic_ns() - start_ns);
	if (lost) {
		log_warn("partitions were stored by somebody else, reading them again", "count=%zu",
			 lost);
		restart(consume);
	}
	return true;
}

static void set_paused(struct consume *consume, bool pause)
{
	struct err err;

	if (pause == consume->is_paused)
		return;
	if (!kafka_consumer_pause(&consume->consumer, pause, &err)) {
		log_warn("reading goes on", "error=\"%s\"", err.msg);
		return;
	}
	log_info(pause ? "memory is full, reading is paused" : "reading goes on");
	consume->is_paused = pause;
	metric_set(&ingester_paused, pause);
}

static void observe(struct consume *consume)
{
	int64_t lag = 0;
	size_t samples = 0;

	for (size_t i = 0; i < consume->part_count; i++) {
		const struct part *part = &consume->parts[i];
		int64_t end = kafka_consumer_end(&consume->consumer, part->to.partition);
		int64_t next = part->to.next < 0 ? 0 : part->to.next;

		samples += part->samples.samples.len;
		if (end > next)
			lag += end - next;
	}
	metric_set(&ingester_lag, lag);
	metric_set(&ingester_buffered_samples, (int64_t)samples);
	metric_set(&ingester_buffered_bytes, (int64_t)held(consume));
	metric_set(&ingester_hosts, (int64_t)consume->hosts.count);
}

/* Flush when it is time or memory is short; after a failure, later. */
static void flush_if_due(struct consume *consume)
{
	uint64_t now_ns = clock_monotonic_ns(), limit = consume->options->memory_limit / 2;
	bool is_full = held(consume) > limit || consume->hosts.count >= HOSTS_MAX;
	struct err err;

	if (consume->culprit.alone && !consume->backoff_ms)
		consume->next_flush_ns = now_ns;
	if (now_ns < consume->next_flush_ns && (!is_full || consume->backoff_ms))
		return;
	observe(consume);
	if (flush(consume, &err)) {
		consume->backoff_ms = 0;
		consume->next_flush_ns = now_ns + consume->options->flush_interval_ns;
		if (consume->state == CONSUME_STORE_AWAY)
			consume->state = CONSUME_RUNNING;
		if (consume->hosts.count >= HOSTS_MAX)
			hosts_clear(&consume->hosts); /* all of it is in the table now */
		set_paused(consume, false);
		return;
	}
	metric_add(&ingester_flush_errors, 1);
	log_warn("flush failed, trying again", "error=\"%s\"", err.msg);
	consume->state = CONSUME_STORE_AWAY;
	consume->backoff_ms = consume->backoff_ms ? consume->backoff_ms * 2 : RETRY_MS;
	if (consume->backoff_ms > BACKOFF_MAX_MS)
		consume->backoff_ms = BACKOFF_MAX_MS;
	consume->next_flush_ns = now_ns + consume->backoff_ms * NS_PER_MS;
	set_paused(consume, is_full);
}

static void maintain_if_due(struct consume *consume)
{
	uint64_t now_ns = clock_monotonic_ns();
	struct err err;

	if (now_ns < consume->next_maintain_ns)
		return;
	consume->next_maintain_ns = now_ns + MAINTAIN_INTERVAL_S * NS_PER_SECOND;
	if (!store_writer_maintain(&consume->store, &err))
		log_warn("partitions not maintained, trying again", "error=\"%s\"", err.msg);
	metric_set(&ingester_partitions_made, (int64_t)consume->store.partitions_made);
	metric_set(&ingester_partitions_dropped, (int64_t)consume->store.partitions_dropped);
}

/* Until it is dealt with, or we are stopping. */
static void take(struct consume *consume, struct part *part, const struct kafka_record *record)
{
	struct err err;

	while (!take_record(consume, part, record, &err)) {
		log_warn("message waits", "error=\"%s\"", err.msg);
		consume->state = CONSUME_STORE_AWAY;
		if (!daemon_wait(RETRY_MS))
			return;
	}
	if (consume->state == CONSUME_STORE_AWAY && !consume->backoff_ms)
		consume->state = CONSUME_RUNNING;
}

static void on_record(struct consume *consume, const struct kafka_record *record)
{
	struct part *part = part_find(consume, record->partition);

	if (!part)
		return; /* of an assignment that has gone */
	switch (part->must_check ? part_check(part, record) : PART_BEYOND) {
	case PART_KNOWN:
		break;
	case PART_FOREIGN:
		take_detour(consume, part);
		break;
	case PART_BEYOND:
		take(consume, part, record);
		break;
	}
}

static void step(struct consume *consume)
{
	struct kafka_record record;
	struct part *part;
	struct err err;

	switch (kafka_consumer_poll(&consume->consumer, POLL_MS, &record, &err)) {
	case KAFKA_NOTHING:
		break;
	case KAFKA_RECORD:
		on_record(consume, &record);
		kafka_record_done(&record);
		break;
	case KAFKA_OUT_OF_RANGE:
		part = part_find(consume, record.partition);
		if (part)
			take_detour(consume, part);
		break;
	case KAFKA_TROUBLE:
		log_warn("reading from Kafka", "error=\"%s\"", err.msg);
		break;
	}
	flush_if_due(consume);
	maintain_if_due(consume);
}

static bool open_store(struct consume *consume)
{
	const struct consume_options *options = consume->options;
	struct store_writer_options store = {
		.postgres = options->postgres,
		.topic = options->topic,
		.known_series_max = KNOWN_SERIES_MAX,
		.retention_raw_ns = options->retention_raw_ns,
		.synchronous_commit = options->synchronous_commit,
	};
	struct err err;

	while (!store_writer_open(&consume->store, &store, &err)) {
		log_warn("PostgreSQL not ready, trying again", "error=\"%s\"", err.msg);
		if (!daemon_wait(RETRY_MS))
			return false;
	}
	return true;
}

static bool open_topics(struct consume *consume)
{
	const struct consume_options *options = consume->options;
	char rejected[256];
	struct kafka_topic topics[] = {
		{ options->topic, options->topic_partitions, options->replication_factor,
		  TOPIC_RETENTION_MS },
		{ rejected, REJECTED_PARTITIONS, options->replication_factor, TOPIC_RETENTION_MS },
	};
	struct err err;

	snprintf(rejected, sizeof(rejected), "%s.rejected", options->topic);
	for (size_t i = 0; i < ARRAY_LEN(topics);) {
		if (kafka_topic_ensure(options->brokers, &topics[i], &err)) {
			i++;
			continue;
		}
		log_warn("Kafka not ready, trying again", "error=\"%s\"", err.msg);
		if (!daemon_wait(RETRY_MS))
			return false;
	}
	return true;
}

static bool open_kafka(struct consume *consume, struct err *err)
{
	const struct consume_options *options = consume->options;

	return reject_open(&consume->reject, options->brokers, options->topic, err) &&
	       kafka_consumer_open(
		       &consume->consumer,
		       &(struct kafka_consumer_options){
			       .brokers = options->brokers,
			       .topic = options->topic,
			       .group = options->group,
			       .client_id = "decima-ingester",
			       .queue_max_kbytes = options->memory_limit / QUEUE_SHARE / 1024,
			       .assigned = on_assigned,
			       .revoked = on_revoked,
			       .self = consume,
		       },
		       err);
}

/* What is held is flushed once more; if that fails, the next owner reads it again. */
static void finish(struct consume *consume)
{
	struct err err;

	if (consume->consumer.kafka && !flush(consume, &err))
		log_warn("last flush failed, its messages will be read again", "error=\"%s\"",
			 err.msg);
	kafka_consumer_close(&consume->consumer);
	reject_close(&consume->reject);
	store_writer_close(&consume->store);
	drop_parts(consume);
	arena_free(&consume->assignment);
	arena_free(&consume->message);
}

bool consume_run(struct consume *consume, const struct consume_options *options, struct err *err)
{
	bool done = true;

	consume->options = options;
	consume->detour.partition = -1;
	hosts_init(&consume->hosts);
	consume->state = CONSUME_OPENING_STORE;
	if (!open_store(consume))
		goto out;
	consume->state = CONSUME_OPENING_TOPIC;
	if (!open_topics(consume))
		goto out;
	consume->state = CONSUME_JOINING;
	done = open_kafka(consume, err);
	consume->next_flush_ns = clock_monotonic_ns() + options->flush_interval_ns;
	while (done && !daemon_stopping())
		step(consume);
out:
	finish(consume);
	return done;
}
