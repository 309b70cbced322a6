// SPDX-License-Identifier: Apache-2.0
#include "part.h"

static void keep_key(struct store_offset *offset, char room[static HOST_ID_MAX], str key)
{
	size_t len = key.len < HOST_ID_MAX ? key.len : HOST_ID_MAX;

	if (len)
		memmove(room, key.ptr, len);
	offset->last_key = (str){ room, len };
}

static void begin_set(struct part *part)
{
	sample_set_init(&part->samples, &part->arena);
	part->hosts.items = NULL;
	part->hosts.len = part->hosts.cap = 0;
	part->is_dirty = false;
	part->messages = 0;
	part->oldest_ms = part->sampled_ms = INT64_MAX;
}

void part_init(struct part *part, const struct store_offset *offset)
{
	*part = (struct part){ .from = *offset, .to = *offset };
	keep_key(&part->from, part->from_key, offset->last_key);
	keep_key(&part->to, part->to_key, offset->last_key);
	part->must_check = offset->next > 0 && offset->last_timestamp_ms >= 0;
	begin_set(part);
}

void part_done(struct part *part)
{
	arena_free(&part->arena);
	*part = (struct part){ 0 };
}

int64_t part_start(const struct part *part)
{
	if (part->to.next < 0)
		return KAFKA_FROM_BEGINNING;
	return part->must_check ? part->to.next - 1 : part->to.next;
}

void part_skip_to(struct part *part, int64_t offset)
{
	part->must_check = false;
	part->is_dirty = true;
	part->to.next = offset;
	part->to.last_timestamp_ms = -1;
	keep_key(&part->to, part->to_key, (str){ 0 });
}

void part_add_samples(struct part *part, const struct sample_set *samples)
{
	int64_t newest_ms = 0;

	for (size_t i = 0; i < samples->samples.len; i++)
		if ((int64_t)samples->samples.items[i].time_ms > newest_ms)
			newest_ms = (int64_t)samples->samples.items[i].time_ms;
	if (samples->samples.len && newest_ms < part->sampled_ms)
		part->sampled_ms = newest_ms;
	sample_set_merge(&part->samples, samples, NULL);
}

void part_advance(struct part *part, const struct kafka_record *record)
{
	part->is_dirty = true;
	part->messages++;
	if (record->timestamp_ms >= 0 && record->timestamp_ms < part->oldest_ms)
		part->oldest_ms = record->timestamp_ms;
	part->to.next = record->offset + 1;
	part->to.last_timestamp_ms = record->timestamp_ms;
	keep_key(&part->to, part->to_key, record->key);
}

/* A key longer than what is kept is compared by its beginning. */
enum part_check part_check(struct part *part, const struct kafka_record *record)
{
	str key = record->key;

	part->must_check = false;
	if (record->offset >= part->from.next)
		return PART_BEYOND;
	if (key.len > HOST_ID_MAX)
		key.len = HOST_ID_MAX;
	if (record->timestamp_ms == part->from.last_timestamp_ms &&
	    str_eq(key, part->from.last_key))
		return PART_KNOWN;
	return PART_FOREIGN;
}

void part_add_host(struct part *part, struct store_host *host)
{
	for (size_t i = 0; i < part->hosts.len; i++)
		if (part->hosts.items[i] == host)
			return;
	*vec_push(&part->arena, &part->hosts) = host;
}

void part_stored(struct part *part)
{
	part->from = part->to;
	keep_key(&part->from, part->from_key, part->to.last_key);
	arena_reset(&part->arena);
	begin_set(part);
}
