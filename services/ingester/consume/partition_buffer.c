// SPDX-License-Identifier: Apache-2.0
#include "ingester/consume/partition_buffer_internal.h"

static void copy_key(struct store_offset *offset, char room[static HOST_ID_MAX], str key)
{
	size_t len = key.len < HOST_ID_MAX ? key.len : HOST_ID_MAX;

	if (len)
		memmove(room, key.ptr, len);
	offset->last_key = (str){ room, len };
}

static void reset(struct partition_buffer *buffer)
{
	sample_set_init(&buffer->samples, &buffer->arena);
	buffer->hosts.items = NULL;
	buffer->hosts.len = buffer->hosts.cap = 0;
	buffer->is_dirty = false;
	buffer->messages = 0;
	buffer->oldest_ms = buffer->sampled_ms = INT64_MAX;
}

void partition_buffer_init(struct partition_buffer *buffer, const struct store_offset *offset)
{
	*buffer = (struct partition_buffer){ .from = *offset, .to = *offset };
	copy_key(&buffer->from, buffer->from_key, offset->last_key);
	copy_key(&buffer->to, buffer->to_key, offset->last_key);
	buffer->must_check = offset->next > 0 && offset->last_timestamp_ms >= 0;
	reset(buffer);
}

void partition_buffer_done(struct partition_buffer *buffer)
{
	arena_free(&buffer->arena);
	*buffer = (struct partition_buffer){ 0 };
}

int64_t partition_buffer_start(const struct partition_buffer *buffer)
{
	if (buffer->to.next < 0)
		return KAFKA_FROM_BEGINNING;
	return buffer->must_check ? buffer->to.next - 1 : buffer->to.next;
}

void partition_buffer_skip_to(struct partition_buffer *buffer, int64_t offset)
{
	buffer->must_check = false;
	buffer->is_dirty = true;
	buffer->to.next = offset;
	buffer->to.last_timestamp_ms = -1;
	copy_key(&buffer->to, buffer->to_key, (str){ 0 });
}

void partition_buffer_add_samples(struct partition_buffer *buffer, const struct sample_set *samples)
{
	int64_t newest_ms = 0;

	for (size_t i = 0; i < samples->samples.len; i++)
		if ((int64_t)samples->samples.items[i].time_ms > newest_ms)
			newest_ms = (int64_t)samples->samples.items[i].time_ms;
	if (samples->samples.len && newest_ms < buffer->sampled_ms)
		buffer->sampled_ms = newest_ms;
	sample_set_merge(&buffer->samples, samples, NULL);
}

void partition_buffer_advance(struct partition_buffer *buffer, const struct kafka_record *record)
{
	buffer->is_dirty = true;
	buffer->messages++;
	if (record->timestamp_ms >= 0 && record->timestamp_ms < buffer->oldest_ms)
		buffer->oldest_ms = record->timestamp_ms;
	buffer->to.next = record->offset + 1;
	buffer->to.last_timestamp_ms = record->timestamp_ms;
	copy_key(&buffer->to, buffer->to_key, record->key);
}

/* Of a key longer than HOST_ID_MAX only the first bytes are stored and compared. */
enum partition_check partition_buffer_check(struct partition_buffer *buffer,
					    const struct kafka_record *record)
{
	str key = record->key;

	buffer->must_check = false;
	if (record->offset >= buffer->from.next)
		return PARTITION_BEYOND;
	if (key.len > HOST_ID_MAX)
		key.len = HOST_ID_MAX;
	if (record->timestamp_ms == buffer->from.last_timestamp_ms &&
	    str_eq(key, buffer->from.last_key))
		return PARTITION_SAME;
	return PARTITION_FOREIGN;
}

bool partition_buffer_is_past(const struct partition_buffer *buffer,
			      const struct kafka_record *record)
{
	return !buffer->must_check && record->offset < buffer->to.next;
}

void partition_buffer_add_host(struct partition_buffer *buffer, struct store_host *host)
{
	for (size_t i = 0; i < buffer->hosts.len; i++)
		if (buffer->hosts.items[i] == host)
			return;
	*vec_push(&buffer->arena, &buffer->hosts) = host;
}

void partition_buffer_stored(struct partition_buffer *buffer)
{
	buffer->from = buffer->to;
	copy_key(&buffer->from, buffer->from_key, buffer->to.last_key);
	arena_reset(&buffer->arena);
	reset(buffer);
}
