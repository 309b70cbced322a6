#include "store/compact_merge.h"

#include "base/map.h"
#include "store/chunk.h"

#include <inttypes.h>

#define MS_PER_HOUR UINT64_C(3600000)

static uint64_t hour_of(uint64_t unix_ms)
{
	return unix_ms - unix_ms % MS_PER_HOUR;
}

static struct sample_set *set_of(struct compact_merge *merge, uint64_t start_ms)
{
	for (size_t i = 0; i < merge->hours.len; i++)
		if (merge->hours.items[i].start_ms == start_ms)
			return &merge->hours.items[i].set;

	struct compact_hour *hour = vec_push(merge->arena, &merge->hours);

	hour->start_ms = start_ms;
	sample_set_init(&hour->set, merge->arena);
	return &hour->set;
}

/*
 * Every series is wanted. Sets tell series apart by their labels, which rows do not have: the id
 * stands for them, until compact_merge_end() makes it an id again.
 */
static bool any_series(void *self, uint64_t id, str type, struct labels *ret_labels)
{
	struct arena *arena = self;
	struct label *label = arena_new(arena, struct label);

	(void)type;
	label->name = STR("id");
	label->value = str_copy(arena, (str){ (const char *)&id, sizeof(id) });
	*ret_labels = (struct labels){ label, 1 };
	return true;
}

static bool decode(const struct compact_row *row, struct sample_set *set, struct err *err)
{
	size_t before = set->samples.len;
	uint64_t samples = 0;
	const struct chunk_filter filter = {
		.series = any_series,
		.self = set->arena,
		.start_ms = row->first_ms,
		.end_ms = row->last_ms + 1,
	};

	if (!chunk_decode(row->payload, &filter, set, &samples, err))
		return false;
	if (samples == row->samples && set->samples.len - before == samples)
		return true;
	return err_set(err, ERR_INVALID,
		       "%" PRIu64 " samples from %" PRIu64 " to %" PRIu64
		       " ms are said to be in it, of %" PRIu64 " that are there %zu are such",
		       row->samples, row->first_ms, row->last_ms, samples,
		       set->samples.len - before);
}

static bool is_of_hour(void *self, const struct sample_set *from, struct sample *sample)
{
	const uint64_t *start_ms = self;

	(void)from;
	return hour_of(sample->time_ms) == *start_ms;
}

/* Around the hour's turn, and of a host that comes back with what it spooled. */
static bool add_hours(struct compact_merge *merge, const struct compact_row *row, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set whole;
	struct map hours = { .arena = &arena };

	sample_set_init(&whole, &arena);
	if (!decode(row, &whole, err))
		return false;
	for (size_t i = 0; i < whole.samples.len; i++) {
		uint64_t start_ms = hour_of(whole.samples.items[i].time_ms);
		str key = str_copy(&arena, (str){ (const char *)&start_ms, sizeof(start_ms) });
		void **seen = map_at(&hours, key);

		if (*seen)
			continue;
		*seen = &whole;
		sample_set_merge(set_of(merge, start_ms), &whole,
				 &(struct sample_filter){ is_of_hour, &start_ms });
	}
	return true;
}

bool compact_merge_add(struct compact_merge *merge, const struct compact_row *row, struct err *err)
{
	bool good = hour_of(row->first_ms) == hour_of(row->last_ms)
			    ? decode(row, set_of(merge, hour_of(row->first_ms)), err)
			    : add_hours(merge, row, err);

	merge->samples += good ? row->samples : 0;
	return good;
}

void compact_merge_end(struct compact_merge *merge)
{
	for (size_t i = 0; i < merge->hours.len; i++) {
		struct sample_set *set = &merge->hours.items[i].set;

		for (size_t j = 0; j < set->series.len; j++)
			memcpy(&set->series.items[j].id,
			       set->series.items[j].labels.items[0].value.ptr, sizeof(uint64_t));
	}
}
