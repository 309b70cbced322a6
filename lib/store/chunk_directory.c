// SPDX-License-Identifier: Apache-2.0
#include "store/chunk_directory.h"

#include "base/map.h"
#include "base/reader.h"

enum { DIRECTORY_VERSION = 1 };

static int compare_series(const void *a, const void *b)
{
	uint64_t x = ((const struct directory_series *)a)->id;
	uint64_t y = ((const struct directory_series *)b)->id;

	return (x > y) - (x < y);
}

static int compare_names(const void *a, const void *b)
{
	return str_compare(*(const str *)a, *(const str *)b);
}

static void find_series(const struct sample_set *set, struct chunk_directory *directory,
			struct arena *arena)
{
	struct directory_series *series =
		arena_array(arena, struct directory_series, set->series.len);
	size_t kept = 0;

	for (size_t i = 0; i < set->samples.len; i++) {
		const struct sample *sample = &set->samples.items[i];
		struct directory_series *entry = &series[sample->series];

		if (entry->count++ == 0)
			entry->first_ms = entry->last_ms = sample->time_ms;
		entry->sum = (int64_t)((uint64_t)entry->sum + (uint64_t)sample->value);
		entry->first_ms =
			entry->first_ms < sample->time_ms ? entry->first_ms : sample->time_ms;
		entry->last_ms =
			entry->last_ms > sample->time_ms ? entry->last_ms : sample->time_ms;
	}
	for (size_t i = 0; i < set->series.len; i++) {
		series[i].id = set->series.items[i].id;
		if (series[i].count)
			series[kept++] = series[i];
	}
	if (kept)
		qsort(series, kept, sizeof(*series), compare_series);
	directory->series = series;
	directory->series_count = kept;
}

static void find_names(const struct sample_set *set, struct chunk_directory *directory,
		       struct arena *arena)
{
	bool *used = arena_array(arena, bool, set->label_sets.len);
	struct map names = { .arena = arena };
	VEC(str) found = { 0 };

	for (size_t i = 0; i < set->samples.len; i++)
		used[set->samples.items[i].labels] = true;
	for (size_t i = 0; i < set->label_sets.len; i++) {
		for (size_t j = 0; used[i] && j < set->label_sets.items[i].len; j++) {
			str name = set->label_sets.items[i].items[j].name;
			void **seen = map_at(&names, name);

			if (!*seen)
				*vec_push(arena, &found) = name;
			*seen = directory;
		}
	}
	if (found.len)
		qsort(found.items, found.len, sizeof(str), compare_names);
	directory->names = found.items;
	directory->name_count = found.len;
}

struct chunk_directory chunk_directory_of(const struct sample_set *set, struct arena *arena)
{
	struct chunk_directory directory = { 0 };

	find_series(set, &directory, arena);
	find_names(set, &directory, arena);
	return directory;
}

str chunk_directory_write(const struct chunk_directory *directory, struct arena *arena)
{
	struct buf out = { .arena = arena };

	buf_u8(&out, DIRECTORY_VERSION);
	buf_varint(&out, directory->series_count);
	for (size_t i = 0; i < directory->series_count; i++) {
		const struct directory_series *series = &directory->series[i];

		buf_u64(&out, series->id);
		buf_varint(&out, series->count);
		buf_zigzag(&out, series->sum);
		buf_varint(&out, series->first_ms);
		buf_varint(&out, series->last_ms - series->first_ms);
	}
	buf_varint(&out, directory->name_count);
	for (size_t i = 0; i < directory->name_count; i++)
		buf_str_prefixed(&out, directory->names[i]);
	return buf_bytes(&out);
}

bool chunk_directory_read(str bytes, struct chunk_directory *ret_directory, struct arena *arena,
			  struct err *err)
{
	struct reader r = reader_of(bytes);
	struct chunk_directory directory = { 0 };

	if (reader_u8(&r) != DIRECTORY_VERSION)
		return err_set(err, ERR_INVALID,
			       "a row's directory of a version that is not known");

	uint64_t count = reader_varint(&r);

	if (count > reader_left(&r))
		return err_set(err, ERR_INVALID, "a row's directory names too many series");

	struct directory_series *series =
		arena_array(arena, struct directory_series, (size_t)count);

	for (uint64_t i = 0; i < count; i++) {
		series[i].id = reader_u64(&r);
		series[i].count = reader_varint(&r);
		series[i].sum = reader_zigzag(&r);
		series[i].first_ms = reader_varint(&r);
		series[i].last_ms = series[i].first_ms + reader_varint(&r);
	}
	directory.series = series;
	directory.series_count = (size_t)count;
	count = reader_varint(&r);
	if (count > reader_left(&r))
		return err_set(err, ERR_INVALID, "a row's directory has too many label names");

	str *names = arena_array(arena, str, (size_t)count);

	for (uint64_t i = 0; i < count; i++)
		names[i] = reader_str_prefixed(&r);
	directory.names = names;
	directory.name_count = (size_t)count;
	if (r.failed || reader_left(&r))
		return err_set(err, ERR_INVALID, "a row's directory does not hold what it should");
	*ret_directory = directory;
	return true;
}
