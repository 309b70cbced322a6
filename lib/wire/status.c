// SPDX-License-Identifier: Apache-2.0
#include "wire/status.h"

#include "wire/protobuf_internal.h"

#include <status.pb-c.h>

/* The messages of one list of counts, in the arena. */
static Decima__Count **counts_write(const struct status_count *counts, size_t len,
				    struct arena *arena)
{
	Decima__Count **messages = arena_array(arena, Decima__Count *, len);
	Decima__Count *room = arena_array(arena, Decima__Count, len);

	for (size_t i = 0; i < len; i++) {
		decima__count__init(&room[i]);
		room[i].reason = protobuf_bytes(counts[i].reason);
		room[i].samples = counts[i].samples;
		messages[i] = &room[i];
	}
	return messages;
}

str status_write(const struct agent_status *status, struct arena *arena)
{
	Decima__AgentStatus message;

	decima__agent_status__init(&message);
	message.node = protobuf_bytes(status->node);
	message.version = protobuf_bytes(status->version);
	message.frequency_hz = status->frequency_hz;
	message.sampled = status->sampled;
	message.batch_samples = status->batch_samples;
	message.time_unix_nano = status->time_unix_ns;
	message.spool_oldest = status->spool_oldest;
	message.spooled = status->spooled;
	message.sent = status->sent;
	message.lost = counts_write(status->lost, status->lost_count, arena);
	message.n_lost = status->lost_count;
	message.truncated = counts_write(status->truncated, status->truncated_count, arena);
	message.n_truncated = status->truncated_count;
	return protobuf_pack(&message.base, arena);
}

/* The reasons of agent/spool/spool.h. `spool_write` is not one: such a batch is not in the spool.
 */
static bool is_of_spool(str reason)
{
	return str_eq(reason, STR("spool_full")) || str_eq(reason, STR("spool_corrupt")) ||
	       str_eq(reason, STR("spool_refused"));
}

/* Wraps for counts that no real agent has; the balance finds these. */
static uint64_t lost_sum(const struct agent_status *status, bool of_spool)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < status->lost_count; i++)
		if (is_of_spool(status->lost[i].reason) == of_spool)
			samples += status->lost[i].samples;
	return samples;
}

uint64_t status_spool_lost(const struct agent_status *status)
{
	return lost_sum(status, true);
}

uint64_t status_spooled(const struct agent_status *status)
{
	uint64_t lost_before = lost_sum(status, false);

	if (status->spooled)
		return status->spooled;
	return status->sampled > lost_before ? status->sampled - lost_before : 0;
}

static bool text_read(ProtobufCBinaryData bytes, str *ret_text, struct arena *arena,
		      struct err *err)
{
	str text = protobuf_str(bytes);

	if (!str_is_utf8(text) || (text.len && memchr(text.ptr, 0, text.len)))
		return err_set(err, ERR_INVALID,
			       "an agent's status has a text that is not UTF-8 or holds NUL");
	*ret_text = str_copy(arena, text);
	return true;
}

static bool counts_read(Decima__Count *const *messages, size_t len, struct status_count *counts,
			size_t *ret_len, struct arena *arena, struct err *err)
{
	if (len > STATUS_REASONS_MAX)
		return err_set(err, ERR_INVALID, "an agent's status with %zu reasons, limit %d",
			       len, STATUS_REASONS_MAX);
	for (size_t i = 0; i < len; i++) {
		if (!text_read(messages[i]->reason, &counts[i].reason, arena, err))
			return false;
		counts[i].samples = messages[i]->samples;
	}
	*ret_len = len;
	return true;
}

/* The message is flat and of bounded size, so protobuf-c is safe. */
bool status_read(str bytes, struct agent_status *ret_status, struct arena *arena, struct err *err)
{
	AUTO_ARENA scratch = { 0 };
	ProtobufCAllocator allocator = protobuf_allocator(&scratch);
	struct agent_status status = { 0 };

	if (bytes.len > STATUS_BYTES_MAX)
		return err_set(err, ERR_INVALID, "an agent's status of %zu bytes, limit %d",
			       bytes.len, STATUS_BYTES_MAX);

	const Decima__AgentStatus *message =
		decima__agent_status__unpack(&allocator, bytes.len, (const uint8_t *)bytes.ptr);

	if (!message)
		return err_set(err, ERR_INVALID, "%zu bytes are not an agent's status", bytes.len);
	status.frequency_hz = message->frequency_hz;
	status.sampled = message->sampled;
	status.batch_samples = message->batch_samples;
	status.time_unix_ns = message->time_unix_nano;
	status.spool_oldest = message->spool_oldest;
	status.spooled = message->spooled;
	status.sent = message->sent;
	if (!text_read(message->node, &status.node, arena, err) ||
	    !text_read(message->version, &status.version, arena, err) ||
	    !counts_read(message->lost, message->n_lost, status.lost, &status.lost_count, arena,
			 err) ||
	    !counts_read(message->truncated, message->n_truncated, status.truncated,
			 &status.truncated_count, arena, err))
		return false;
	*ret_status = status;
	return true;
}
