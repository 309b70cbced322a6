// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
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
	struct err err;

	assignment_drop(consume);
	offsets = arena_array(&consume->assignment, struct store_offset, count);
	for (size_t i = 0; i < count; i++)
		offsets[i].partition = positions[i].partition;
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
		if (offsets[i].partition == consume->seek_override.partition)
			partition_buffer_skip_to(&consume->buffers[i],
						 consume->seek_override.offset);
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
	consume->seek_override.partition = -1;
	metric_add(&ingester_rebalances, 1);
	metric_set(&ingester_assigned, (int64_t)count);
	consume->state = CONSUME_RUNNING;
	return true;
}

void assignment_restart(struct consume *consume, bool is_stopped)
{
	struct err err;

	metric_add(&ingester_rereads, 1);
	while (!kafka_consumer_restart(&consume->consumer, is_stopped, &err)) {
		log_warn("cannot restart reading, trying again", "error=\"%s\"", err.msg);
		if (!daemon_wait(RETRY_MS))
			return;
	}
}

static void override_seek(struct consume *consume, const struct partition_buffer *buffer,
			  int64_t first, int64_t end)
{
	int64_t wanted = buffer->to.next < 0 ? 0 : buffer->to.next;
	int32_t partition = buffer->to.partition;

	consume->seek_override = (struct seek_override){ partition, first };
	if (first > wanted) {
		log_warn("messages were removed before they were read",
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
}

/*
 * A starting broker may report "out of range" for offsets that it has. So the error alone is not
 * trusted: the topic's range decides, unless another message is at a remembered offset.
 */
void assignment_seek(struct consume *consume, const struct partition_buffer *buffer,
		     bool is_foreign)
{
	int64_t wanted = buffer->to.next < 0 ? 0 : buffer->to.next, first, end;
	struct err err;

	consume->unreadable = UNREADABLE_NONE;
	while (!kafka_consumer_query_range(&consume->consumer, buffer->to.partition, &first, &end,
					   &err)) {
		log_warn("cannot find the topic's range", "error=\"%s\"", err.msg);
		if (!daemon_wait(RETRY_MS))
			return;
	}
	if (is_foreign || first >= wanted || end < wanted)
		override_seek(consume, buffer, first, end);
	else if (!daemon_wait(RETRY_MS))
		return;
	assignment_restart(consume, !is_foreign);
}

/* Count the lost messages; the next assignment starts after them. */
static void skip_unreadable(struct consume *consume)
{
	struct unreadable found = consume->unreadable;

	log_warn("messages that cannot be decompressed were skipped",
		 "partition=%" PRId32 " from=%" PRId64 " to=%" PRId64, found.partition, found.first,
		 found.next);
	metric_add(&ingester_unreadable, (uint64_t)(found.next - found.first));
	consume->unreadable = UNREADABLE_NONE;
	consume->seek_override = (struct seek_override){ found.partition, found.next };
}

bool assignment_readable(struct consume *consume, int64_t offset)
{
	struct unreadable *unreadable = &consume->unreadable;
	int64_t fetched = unreadable->next;

	if (unreadable_outside(unreadable, offset) == UNREADABLE_FETCH)
		return false;

	bool is_next = unreadable->next == fetched;

	skip_unreadable(consume);
	if (is_next)
		consume->seek_override.partition = -1;
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
	int64_t wanted = buffer->to.next < 0 ? 0 : buffer->to.next, first, end;
	struct err err;

	for (size_t i = 0; i < consume->buffer_count; i++)
		if (consume->buffers[i].is_dirty) {
			consume->next_flush_ns = 0;
			return;
		}
	if (unreadable->partition >= 0 && unreadable->partition != buffer->to.partition)
		return; /* one partition at a time */
	if (unreadable->partition >= 0 && unreadable->base != base &&
	    !assignment_readable(consume, base)) {
		assignment_restart(consume, false);
		return;
	}
	if (!kafka_consumer_query_range(&consume->consumer, buffer->to.partition, &first, &end,
					&err)) {
		log_warn("cannot find the topic's range", "error=\"%s\"", err.msg);
		return;
	}
	if (unreadable_inside(unreadable, buffer->to.partition, base, wanted, end) ==
	    UNREADABLE_DONE)
		skip_unreadable(consume);
	assignment_restart(consume, false);
}

struct partition_buffer *assignment_buffer(const struct consume *consume, int32_t partition)
{
	if (partition < 0 || (size_t)partition >= consume->partition_end)
		return NULL;
	return consume->by_partition[partition];
}
