// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/map.h"
#include "store/compact/compact_merge_internal.h"

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

static bool is_of_hour(void *self, const struct sample_set *from, struct sample *sample)
{
	const uint64_t *start_ms = self;

	(void)from;
	return hour_of(sample->time_ms) == *start_ms;
}

/* For a row that spans hours: at the turn of the hour, or of a host that sends an old spool. */
static bool add_hours(struct compact_merge *merge, const struct compact_row *row, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set whole;
	struct map hours = { .arena = &arena };

	sample_set_init(&whole, &arena);
	if (!compact_row_read(row, COMPACT_ALL, 0, &whole, err))
		return false;
	for (size_t i = 0; i < whole.samples.len; i++) {
		uint64_t start_ms = hour_of(whole.samples.items[i].time_ms);
		str key = str_copy(&arena, (str){ (const char *)&start_ms, sizeof(start_ms) });
		void **entry = map_at(&hours, key);

		if (*entry)
			continue;
		*entry = &whole;
		sample_set_merge(set_of(merge, start_ms), &whole,
				 &(struct sample_filter){ is_of_hour, &start_ms });
	}
	return true;
}

bool compact_merge_add(struct compact_merge *merge, const struct compact_row *row, struct err *err)
{
	bool good = hour_of(row->first_ms) == hour_of(row->last_ms)
			    ? compact_row_read(row, COMPACT_ALL, 0,
					       set_of(merge, hour_of(row->first_ms)), err)
			    : add_hours(merge, row, err);

	merge->samples += good ? row->samples : 0;
	return good;
}

void compact_merge_end(struct compact_merge *merge)
{
	for (size_t i = 0; i < merge->hours.len; i++)
		compact_set_end(&merge->hours.items[i].set);
}
