// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/liveness.h"
#include "base/log.h"
#include "ingester/consume/assignment_internal.h"
#include "ingester/consume/flush_internal.h"
#include "ingester/consume/lag_internal.h"
#include "ingester/ingester_limits.h"
#include "ingester/metrics.h"

#include <inttypes.h>

enum { BACKOFF_MAX_MS = 10000 };

static size_t memory_used(const struct consume *consume)
{
	size_t bytes = hosts_memory(&consume->hosts);

	for (size_t i = 0; i < consume->buffer_count; i++)
		bytes += consume->buffers[i].arena.size;
	return bytes;
}

static uint64_t buffered_messages(const struct consume *consume)
{
	uint64_t messages = 0;

	for (size_t i = 0; i < consume->buffer_count; i++)
		messages += consume->buffers[i].messages;
	return messages;
}

/* The dirty buffers in the form that store_writer_flush() needs. */
static struct store_flush_part *dirty_buffers(const struct consume *consume, struct arena *arena,
					      struct partition_buffer ***ret_buffers,
					      size_t *ret_count)
{
	struct store_flush_part *dirty =
		arena_array(arena, struct store_flush_part, consume->buffer_count);
	struct partition_buffer **buffers =
		arena_array(arena, struct partition_buffer *, consume->buffer_count);
	size_t count = 0;

	for (size_t i = 0; i < consume->buffer_count; i++) {
		struct partition_buffer *buffer = &consume->buffers[i];

		if (!buffer->is_dirty)
			continue;
		buffers[count] = buffer;
		dirty[count++] = (struct store_flush_part){
			.from = buffer->from,
			.to = buffer->to,
			.samples = buffer->samples.samples.len ? &buffer->samples : NULL,
			.hosts = buffer->hosts.items,
			.host_count = buffer->hosts.len,
		};
	}
	*ret_buffers = buffers;
	*ret_count = count;
	return dirty;
}

static void count_flush(struct consume *consume, const struct store_flush *flush, uint64_t took_ns)
{
	struct store_writer *store = &consume->store;

	metric_add(&ingester_flushes, 1);
	metric_observe(&ingester_flush_ns, took_ns);
	metric_add(&ingester_samples_stored, flush->samples);
	metric_add(&ingester_rows, flush->rows);
	metric_add(&ingester_row_bytes, flush->bytes);
	metric_set(&ingester_fences_lost, (int64_t)store->fences_lost);
	metric_set(&ingester_series_new, (int64_t)store->series_new);
	metric_set(&ingester_cache_hits, (int64_t)store->cache_hits);
	metric_set(&ingester_cache_misses, (int64_t)store->cache_misses);
	log_debug("flushed", "rows=%" PRIu64 " samples=%" PRIu64 " took_ms=%" PRIu64, flush->rows,
		  flush->samples, took_ns / NS_PER_MS);
}

static void observe_delay(struct metric *metric, int64_t now_ms, int64_t since_ms)
{
	if (since_ms != INT64_MAX)
		metric_observe(metric,
			       now_ms < since_ms ? 0 : (uint64_t)(now_ms - since_ms) * NS_PER_MS);
}

/* Observe the delays of data that the flush has made visible to queries. */
static void count_stored(struct partition_buffer *buffer)
{
	const struct sample_set *set = &buffer->samples;
	int64_t now_ms = (int64_t)(clock_unix_ns() / NS_PER_MS);
	int64_t newest_ms = buffer->newest_ms;

	observe_delay(&ingester_visible_ns, now_ms, buffer->oldest_ms);
	observe_delay(&ingester_sample_delay_ns, now_ms, buffer->sampled_ms);
	for (size_t i = 0; i < set->samples.len; i++)
		if ((int64_t)set->samples.items[i].time_ms > newest_ms)
			newest_ms = (int64_t)set->samples.items[i].time_ms;
	buffer->newest_ms = newest_ms;
	if (newest_ms > metric_get(&ingester_newest_sample_ms))
		metric_set(&ingester_newest_sample_ms, newest_ms);
	if (newest_ms)
		metric_set_number(&ingester_partition_newest, (size_t)buffer->to.partition,
				  (uint64_t)newest_ms / 1000);
}

/* PostgreSQL rejected the data itself: find the message. False: no message could be found. */
static bool on_rejected(struct consume *consume, struct partition_buffer *const *buffers,
			size_t count, const struct err *err)
{
	uint64_t messages = 0;
	const struct partition_buffer *last = buffers[0];

	for (size_t i = 0; i < count; i++) {
		messages += buffers[i]->messages;
		last = buffers[i]->messages ? buffers[i] : last;
	}
	switch (poison_flush_rejected(&consume->poison, messages, last->to.partition,
				      last->to.next - 1)) {
	case POISON_BISECT:
		log_warn("data rejected, searching for the message",
			 "messages=%" PRIu64 " error=\"%s\"", messages, err->msg);
		break;
	case POISON_FOUND:
		log_warn("data rejected, found the message",
			 "partition=%" PRId32 " offset=%" PRId64 " error=\"%s\"",
			 last->to.partition, last->to.next - 1, err->msg);
		break;
	case POISON_NOT_FOUND:
		return false;
	}
	metric_add(&ingester_flush_errors, 1);
	assignment_restart(consume, false);
	return true;
}

/*
 * After a crash or a failover PostgreSQL may have lost its last commits. The fence of a flush
 * detects that only in partitions with new messages. So after a reconnect all partitions are read
 * again.
 */
static bool reread_if_reconnected(struct consume *consume, bool *ret_rereading, struct err *err)
{
	*ret_rereading = false;
	if (consume->buffer_count == 0)
		return true;
	if (!store_writer_connect(&consume->store, err))
		return false;
	*ret_rereading = consume->connections != consume->store.connections;
	if (*ret_rereading) {
		log_info("new connection to PostgreSQL, reading again from its offsets");
		assignment_restart(consume, false);
	}
	return true;
}

/* The messages of a topic that was created again would be stored from the middle of it. */
static bool reread_if_replaced(struct consume *consume)
{
	switch (kafka_consumer_check_topic(&consume->consumer)) {
	case KAFKA_TOPIC_SAME:
		return false;
	case KAFKA_TOPIC_UNKNOWN:
		metric_add(&ingester_unchecked, 1);
		return false;
	case KAFKA_TOPIC_REPLACED:
		break;
	}
	log_warn("topic may have been recreated, reading again from the stored offsets");
	assignment_restart(consume, false);
	return true;
}

bool flush_all(struct consume *consume, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct store_flush result = { 0 };
	struct partition_buffer **buffers;
	size_t count, lost = 0;
	uint64_t messages = 0;
	bool is_rereading;

	liveness_step("storing in PostgreSQL");
	if (!reread_if_reconnected(consume, &is_rereading, err))
		return false;
	if (is_rereading)
		return true;

	if (buffered_messages(consume) && reread_if_replaced(consume))
		return true;

	struct store_flush_part *dirty = dirty_buffers(consume, &arena, &buffers, &count);
	uint64_t start_ns = clock_monotonic_ns();

	if (count == 0)
		return true;
	if (!store_writer_flush(&consume->store, dirty, count, &result, err))
		return err->code == ERR_INVALID && on_rejected(consume, buffers, count, err);
	for (size_t i = 0; i < count; i++) {
		lost += dirty[i].lost;
		if (dirty[i].lost)
			continue;
		count_stored(buffers[i]);
		messages += buffers[i]->messages;
		poison_advance(&consume->poison, buffers[i]->to.partition, buffers[i]->to.next);
		seek_overrides_remove(&consume->overrides, buffers[i]->to.partition);
		partition_buffer_stored(buffers[i]);
	}
	poison_flush_stored(&consume->poison, messages);
	if (messages)
		progress_made(&consume->progress, clock_monotonic_ns());
	count_flush(consume, &result, clock_monotonic_ns() - start_ns);
	if (lost) {
		log_warn("another ingester stored these partitions, reading them again",
			 "count=%zu", lost);
		assignment_restart(consume, false);
	}
	return true;
}

static void set_paused(struct consume *consume, bool pause)
{
	struct err err;

	if (pause == consume->is_paused)
		return;
	if (!kafka_consumer_pause(&consume->consumer, pause, &err)) {
		log_warn("cannot pause or resume reading", "error=\"%s\"", err.msg);
		return;
	}
	log_info(pause ? "memory is full, reading is paused" : "reading is resumed");
	consume->is_paused = pause;
	metric_set(&ingester_paused, pause);
	metric_add(&ingester_pauses, pause);
}

static void observe(struct consume *consume)
{
	size_t samples = 0;

	for (size_t i = 0; i < consume->buffer_count; i++)
		samples += consume->buffers[i].samples.samples.len;
	lag_observe(consume);
	if (progress_is_stalled(&consume->progress, clock_monotonic_ns(), STALL_MS / 2) &&
	    lag_is_stored(consume))
		progress_made(&consume->progress, clock_monotonic_ns());
	metric_set(&ingester_connections, (int64_t)consume->store.connections);
	metric_set(&ingester_buffered_samples, (int64_t)samples);
	metric_set(&ingester_buffered_bytes, (int64_t)memory_used(consume));
	metric_set(&ingester_hosts, (int64_t)consume->hosts.count);
	metric_add(&ingester_partitions_created,
		   consume->store.partitions_made - consume->partitions_made);
	metric_add(&ingester_writers_terminated,
		   consume->store.writers_terminated - consume->writers_terminated);
	consume->partitions_made = consume->store.partitions_made;
	consume->writers_terminated = consume->store.writers_terminated;
}

/* Hosts that fill the share for data would cause a flush at each message. */
static bool too_many_hosts(const struct consume *consume)
{
	uint64_t limit = consume->options->memory_limit / BUFFER_SHARE;

	return consume->hosts.count >= HOSTS_MAX || hosts_memory(&consume->hosts) > limit / 4 * 3;
}

void flush_if_due(struct consume *consume)
{
	uint64_t now_ns = clock_monotonic_ns(),
		 limit = consume->options->memory_limit / BUFFER_SHARE;
	bool is_full = memory_used(consume) > limit || too_many_hosts(consume);
	struct err err;

	if (consume->poison.limit && buffered_messages(consume) >= consume->poison.limit &&
	    !consume->backoff_ms)
		consume->next_flush_ns = now_ns;
	if (now_ns < consume->next_flush_ns && (!is_full || consume->backoff_ms))
		return;
	observe(consume);
	if (flush_all(consume, &err)) {
		consume->backoff_ms = 0;
		consume->next_flush_ns = now_ns + consume->options->flush_interval_ns;
		if (consume->state == CONSUME_STORE_UNAVAILABLE)
			consume->state = CONSUME_RUNNING;
		if (too_many_hosts(consume))
			hosts_clear(&consume->hosts); /* the table has all of them now */
		set_paused(consume, false);
		return;
	}
	metric_add(&ingester_flush_errors, 1);
	log_warn("flush failed, trying again", "error=\"%s\"", err.msg);
	consume->state = CONSUME_STORE_UNAVAILABLE;
	consume->backoff_ms = consume->backoff_ms ? consume->backoff_ms * 2 : RETRY_MS;
	if (consume->backoff_ms > BACKOFF_MAX_MS)
		consume->backoff_ms = BACKOFF_MAX_MS;
	consume->next_flush_ns = now_ns + consume->backoff_ms * NS_PER_MS;
	set_paused(consume, is_full);
}
