// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "ingester/consume/lag_internal.h"
#include "ingester/metrics.h"

/* Messages of a partition that were not read. An end of -1 is unknown. */
static int64_t lag_of(const struct partition_buffer *buffer, int64_t end)
{
	int64_t next = buffer->to.next < 0 ? 0 : buffer->to.next;

	return end > next ? end - next : 0;
}

/* librdkafka learns the ends with each fetch, but a paused consumer does not fetch. */
static const struct kafka_position *find_ends(struct consume *consume, struct arena *arena)
{
	struct kafka_position *ends =
		arena_array(arena, struct kafka_position, consume->buffer_count);

	for (size_t i = 0; i < consume->buffer_count; i++) {
		int32_t partition = consume->buffers[i].to.partition;

		ends[i].partition = partition;
		ends[i].offset = kafka_consumer_end(&consume->consumer, partition);
	}
	if (consume->is_paused)
		kafka_consumer_query_ends(&consume->consumer, ends, consume->buffer_count);
	return ends;
}

void lag_observe(struct consume *consume)
{
	AUTO_ARENA arena = { 0 };
	const struct kafka_position *ends = find_ends(consume, &arena);
	int64_t sum = 0, worst_ms = 0, now_ms = (int64_t)(clock_unix_ns() / NS_PER_MS);

	for (size_t i = 0; i < consume->buffer_count; i++) {
		const struct partition_buffer *buffer = &consume->buffers[i];
		int64_t lag = lag_of(buffer, ends[i].offset);
		int64_t last_ms = buffer->to.last_timestamp_ms;

		sum += lag;
		if (lag && last_ms >= 0 && now_ms - last_ms > worst_ms)
			worst_ms = now_ms - last_ms;
		metric_set_number(&ingester_partition_lag, (size_t)buffer->to.partition,
				  (uint64_t)lag);
	}
	metric_set(&ingester_lag, sum);
	metric_set(&ingester_lag_ms, worst_ms);
}

/* The end of a transaction occupies an offset, but is no message: so the end that was read counts,
 * if the broker has no later one. */
static bool is_stored(const struct partition_buffer *buffer, int64_t end)
{
	return end <= 0 || buffer->from.next == end || (!buffer->messages && buffer->end == end);
}

bool lag_is_stored(struct consume *consume)
{
	AUTO_ARENA arena = { 0 };
	struct kafka_position *ends =
		arena_array(&arena, struct kafka_position, consume->buffer_count);

	for (size_t i = 0; i < consume->buffer_count; i++)
		ends[i] = (struct kafka_position){ consume->buffers[i].to.partition, -1 };
	if (consume->buffer_count)
		kafka_consumer_query_ends(&consume->consumer, ends, consume->buffer_count);
	for (size_t i = 0; i < consume->buffer_count; i++)
		if (!is_stored(&consume->buffers[i], ends[i].offset))
			return false;
	return true;
}

void lag_forget(const struct consume *consume)
{
	for (size_t i = 0; i < consume->buffer_count; i++) {
		size_t partition = (size_t)consume->buffers[i].to.partition;

		metric_clear_number(&ingester_partition_lag, partition);
		metric_clear_number(&ingester_partition_newest, partition);
	}
	metric_set(&ingester_lag, 0);
	metric_set(&ingester_lag_ms, 0);
}
