// SPDX-License-Identifier: Apache-2.0
#include "base/liveness.h"
#include "base/log.h"
#include "ingester/consume/assignment_internal.h"
#include "ingester/consume/lag_internal.h"
#include "ingester/failpoints.h"
#include "ingester/ingester_limits.h"
#include "ingester/metrics.h"
#include "server/daemon.h"

#include <inttypes.h>

void assignment_drop(struct consume *consume)
{
	lag_forget(consume);
	for (size_t i = 0; i < consume->buffer_count; i++)
		partition_buffer_done(&consume->buffers[i]);
	consume->buffers = NULL;
	consume->buffer_count = 0;
	consume->by_partition = NULL;
	consume->partition_end = 0;
	arena_reset(&consume->assignment);
	hosts_clear(&consume->hosts);
	metric_set(&ingester_assigned, 0);
}

void assignment_on_revoked(void *self)
{
	struct consume *consume = self;

	failpoint(&failpoint_in_revoke);
	assignment_drop(consume);
	consume->is_paused = false; /* a new assignment starts unpaused */
	metric_set(&ingester_paused, 0);
	consume->state = CONSUME_JOINING;
}

static void index_buffers(struct consume *consume)
{
	for (size_t i = 0; i < consume->buffer_count; i++)
		if ((size_t)consume->buffers[i].to.partition >= consume->partition_end)
			consume->partition_end = (size_t)consume->buffers[i].to.partition + 1;
	consume->by_partition = arena_array(&consume->assignment, struct partition_buffer *,
					    consume->partition_end);
	for (size_t i = 0; i < consume->buffer_count; i++)
		consume->by_partition[consume->buffers[i].to.partition] = &consume->buffers[i];
}

/* The start offsets are stored only in PostgreSQL: wait until it responds. */
bool assignment_on_assigned(void *self, struct kafka_position *positions, size_t count)
{
	struct consume *consume = self;
	struct store_offset *offsets;
	bool is_seeking = false;
	int64_t skipped_to;
	struct err err;

	assignment_drop(consume);
	offsets = arena_array(&consume->assignment, struct store_offset, count);
	for (size_t i = 0; i < count; i++)
		offsets[i].partition = positions[i].partition;
	liveness_step("reading the offsets from PostgreSQL");
	while (!store_writer_offsets(&consume->store, offsets, count, &consume->assignment, &err)) {
		log_warn("offsets not read, trying again", "error=\"%s\"", err.msg);
		consume->state = CONSUME_STORE_UNAVAILABLE;
		if (!daemon_wait(RETRY_MS))
			return false;
	}
	consume->connections = consume->store.connections;
	consume->buffers = arena_array(&consume->assignment, struct partition_buffer, count);
	consume->buffer_count = count;
	for (size_t i = 0; i < count; i++) {
		partition_buffer_init(&consume->buffers[i], &offsets[i]);
		skipped_to = seek_overrides_find(&consume->overrides, &offsets[i]);
		if (skipped_to >= 0)
			partition_buffer_skip_to(&consume->buffers[i], skipped_to);
		positions[i].offset = partition_buffer_start(&consume->buffers[i]);
		if (offsets[i].partition == consume->unreadable.partition &&
		    offsets[i].next <= consume->unreadable.first) {
			positions[i].offset = consume->unreadable.next;
			is_seeking = true;
		}
	}
	if (!is_seeking)
		consume->unreadable =
			UNREADABLE_NONE; /* the partition belongs to another ingester now */
	index_buffers(consume);
	metric_add(&ingester_rebalances, 1);
	metric_set(&ingester_assigned, (int64_t)count);
	consume->state = CONSUME_RUNNING;
	return true;
}

void assignment_restart(struct consume *consume, bool is_stopped)
{
	struct err err;

	metric_add(&ingester_rereads, 1);
	liveness_step("restarting the Kafka client");
	while (!kafka_consumer_restart(&consume->consumer, is_stopped, &err)) {
		log_warn("cannot restart reading, trying again", "error=\"%s\"", err.msg);
		if (!daemon_wait(RETRY_MS))
			return;
	}
}

struct range {
	int64_t first, end; /* of the messages that Kafka has */
};

static bool query_range(struct consume *consume, const struct partition_buffer *buffer,
			struct range *ret_range)
{
	struct err err;

	liveness_step("asking Kafka for the range of a partition");
	if (kafka_consumer_query_range(&consume->consumer, buffer->to.partition, &ret_range->first,
				       &ret_range->end, &err))
		return true;
	log_warn("cannot find the topic's range", "error=\"%s\"", err.msg);
	return false;
}

static int64_t wanted_offset(const struct partition_buffer *buffer)
{
	return buffer->to.next < 0 ? 0 : buffer->to.next;
}

static bool range_has(struct range range, const struct partition_buffer *buffer)
{
	int64_t start = partition_buffer_start(buffer);

	return start == KAFKA_FROM_BEGINNING ||
	       (start >= range.first && wanted_offset(buffer) <= range.end);
}

/* The next assignments start the partition at the topic's first offset. */
static void override_seek(struct consume *consume, const struct partition_buffer *buffer,
			  struct range range)
{
	int64_t wanted = wanted_offset(buffer), first = range.first;
	int32_t partition = buffer->to.partition;

	seek_overrides_set(&consume->overrides, &buffer->from, first);
	if (first > wanted) {
		log_warn("messages were removed before they were read",
			 "partition=%" PRId32 " from=%" PRId64 " to=%" PRId64, partition, wanted,
			 first);
		metric_add(&ingester_missed, (uint64_t)(first - wanted));
	} else if (first < wanted) {
		log_warn("topic was recreated or truncated, reading it from its beginning",
			 "partition=%" PRId32 " expected=%" PRId64 " first=%" PRId64
			 " end=%" PRId64,
			 partition, wanted, first, range.end);
		metric_add(&ingester_topic_resets, 1);
	}
}

/*
 * If one partition of a recreated topic is out of range, the others are too, and each reopening
 * ends all of them. A partition without a response (the new topic has fewer) is left to the next
 * assignment.
 */
static void override_others(struct consume *consume, const struct partition_buffer *reported)
{
	struct range range;

	for (size_t i = 0; i < consume->buffer_count; i++) {
		const struct partition_buffer *buffer = &consume->buffers[i];

		if (buffer == reported)
			continue;
		if (daemon_stopping() || !query_range(consume, buffer, &range))
			return;
		if (!range_has(range, buffer))
			override_seek(consume, buffer, range);
	}
}

/*
 * A starting broker may report "out of range" for offsets that it has. So the error alone is not
 * trusted: the topic's range decides. If there is no range, reading restarts all the same: the
 * partition may be gone, which only a new assignment shows.
 */
void assignment_out_of_range(struct consume *consume, const struct partition_buffer *buffer)
{
	struct range range;

	consume->unreadable = UNREADABLE_NONE;
	if (query_range(consume, buffer, &range) && !range_has(range, buffer)) {
		override_seek(consume, buffer, range);
		override_others(consume, buffer);
	} else if (!daemon_wait(RETRY_MS)) {
		return;
	}
	assignment_restart(consume, true);
}

/* The message is the first one of its partition since the assignment: the buffer is empty, and no
 * other partition has to be read again. */
void assignment_foreign(struct consume *consume, struct partition_buffer *buffer)
{
	struct range range;
	struct err err;

	if (!query_range(consume, buffer, &range)) {
		if (daemon_wait(RETRY_MS))
			assignment_restart(consume, false);
		return;
	}
	override_seek(consume, buffer, range);
	partition_buffer_skip_to(buffer, range.first);

	struct kafka_position position = { buffer->to.partition, range.first };

	if (kafka_consumer_seek(&consume->consumer, &position, &err))
		return;
	log_warn("cannot seek", "error=\"%s\"", err.msg);
	assignment_restart(consume, false);
}

/* Count the lost messages; the next assignments start after them. */
static void skip_unreadable(struct consume *consume, const struct partition_buffer *buffer)
{
	struct unreadable found = consume->unreadable;

	log_warn("messages that cannot be decompressed were skipped",
		 "partition=%" PRId32 " from=%" PRId64 " to=%" PRId64, found.partition, found.first,
		 found.next);
	metric_add(&ingester_unreadable, (uint64_t)(found.next - found.first));
	consume->unreadable = UNREADABLE_NONE;
	seek_overrides_set(&consume->overrides, &buffer->from, found.next);
}

bool assignment_readable(struct consume *consume, const struct partition_buffer *buffer,
			 int64_t offset)
{
	struct unreadable *unreadable = &consume->unreadable;
	int64_t fetched = unreadable->next;

	if (unreadable_outside(unreadable, offset) == UNREADABLE_FETCH)
		return false;

	bool is_next = unreadable->next == fetched;

	skip_unreadable(consume, buffer);
	return is_next;
}

/*
 * Each fetch drops all buffers, and they hold the messages before the batch. So the buffers are
 * flushed first; Kafka reports the batch again afterwards.
 */
void assignment_unreadable(struct consume *consume, const struct partition_buffer *buffer,
			   int64_t base)
{
	struct unreadable *unreadable = &consume->unreadable;
	struct range range;

	for (size_t i = 0; i < consume->buffer_count; i++)
		if (consume->buffers[i].is_dirty) {
			consume->next_flush_ns = 0;
			return;
		}
	if (unreadable->partition >= 0 && unreadable->partition != buffer->to.partition)
		return; /* one partition at a time */
	if (unreadable->partition >= 0 && unreadable->base != base &&
	    !assignment_readable(consume, buffer, base)) {
		assignment_restart(consume, false);
		return;
	}
	if (!query_range(consume, buffer, &range))
		return;
	if (unreadable_inside(unreadable, buffer->to.partition, base, wanted_offset(buffer),
			      range.end) == UNREADABLE_DONE)
		skip_unreadable(consume, buffer);
	assignment_restart(consume, false);
}

struct partition_buffer *assignment_buffer(const struct consume *consume, int32_t partition)
{
	if (partition < 0 || (size_t)partition >= consume->partition_end)
		return NULL;
	return consume->by_partition[partition];
}
