// SPDX-License-Identifier: Apache-2.0
#include "store/chunk/chunk_directory.h"

#include "base/map.h"
#include "base/reader.h"

/* Version 1 stores full times, and has no slices. */
enum { DIRECTORY_VERSION = 2, DIRECTORY_VERSION_WHOLE = 1 };

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

static uint64_t base_of(const struct chunk_directory *directory)
{
	uint64_t base_ms = directory->series_count ? UINT64_MAX : 0;

	for (size_t i = 0; i < directory->series_count; i++)
		if (directory->series[i].first_ms < base_ms)
			base_ms = directory->series[i].first_ms;
	return base_ms;
}

str chunk_directory_write(const struct chunk_directory *directory, struct arena *arena)
{
	struct buf out = { .arena = arena };
	const struct chunk_layout *layout = &directory->layout;
	uint64_t base_ms = base_of(directory);

	buf_u8(&out, DIRECTORY_VERSION);
	buf_varint(&out, base_ms);
	buf_varint(&out, directory->series_count);
	for (size_t i = 0; i < directory->series_count; i++) {
		const struct directory_series *series = &directory->series[i];

		buf_u64(&out, series->id);
		buf_varint(&out, series->count);
		buf_zigzag(&out, series->sum);
		buf_varint(&out, series->first_ms - base_ms);
		buf_varint(&out, series->last_ms - series->first_ms);
	}
	buf_varint(&out, directory->name_count);
	for (size_t i = 0; i < directory->name_count; i++)
		buf_str_prefixed(&out, directory->names[i]);
	buf_varint(&out, layout->slice_count);
	if (layout->slice_count)
		buf_varint(&out, layout->head_len);
	for (size_t i = 0; i < layout->slice_count; i++) {
		buf_varint(&out, layout->slices[i].len);
		buf_varint(&out, layout->slices[i].series_count);
	}
	return buf_bytes(&out);
}

/* Each item has at least one byte, so a count beyond the remaining bytes is invalid. */
static size_t read_count(struct reader *r)
{
	uint64_t count = reader_varint(r);

	if (count > reader_left(r))
		reader_fail(r);
	return r->failed ? 0 : (size_t)count;
}

static void read_series(struct reader *r, uint64_t base_ms, struct chunk_directory *directory,
			struct arena *arena)
{
	size_t count = read_count(r);
	struct directory_series *series = arena_array(arena, struct directory_series, count);

	for (size_t i = 0; i < count; i++) {
		series[i].id = reader_u64(r);
		series[i].count = reader_varint(r);
		series[i].sum = reader_zigzag(r);
		series[i].first_ms = base_ms + reader_varint(r);
		series[i].last_ms = series[i].first_ms + reader_varint(r);
	}
	directory->series = series;
	directory->series_count = count;
}

static void read_names(struct reader *r, struct chunk_directory *directory, struct arena *arena)
{
	size_t count = read_count(r);
	str *names = arena_array(arena, str, count);

	for (size_t i = 0; i < count; i++)
		names[i] = reader_str_prefixed(r);
	directory->names = names;
	directory->name_count = count;
}

/* Every series must be in a slice, or its samples would not be found. */
static void read_layout(struct reader *r, struct chunk_directory *directory, struct arena *arena)
{
	struct chunk_layout *layout = &directory->layout;
	size_t left = directory->series_count;
	uint64_t payload_len = 0;

	layout->slice_count = read_count(r);
	if (layout->slice_count)
		layout->head_len = reader_varint(r);
	payload_len = layout->head_len;
	layout->slices = arena_array(arena, struct chunk_slice, layout->slice_count);
	for (size_t i = 0; i < layout->slice_count; i++) {
		struct chunk_slice *slice = &layout->slices[i];

		slice->len = reader_varint(r);
		slice->series_count = reader_varint(r);
		if (!slice->len || !slice->series_count || slice->series_count > left ||
		    __builtin_add_overflow(payload_len, slice->len, &payload_len) ||
		    payload_len > INT32_MAX) {
			reader_fail(r);
			return;
		}
		left -= slice->series_count;
	}
	if (layout->slice_count && left)
		reader_fail(r);
}

bool chunk_directory_read(str bytes, struct chunk_directory *ret_directory, struct arena *arena,
			  struct err *err)
{
	struct reader r = reader_of(bytes);
	struct chunk_directory directory = { 0 };
	uint8_t version = reader_u8(&r);

	if (version != DIRECTORY_VERSION && version != DIRECTORY_VERSION_WHOLE)
		return err_set(err, ERR_INVALID, "the directory of a row has an unknown version");
	read_series(&r, version == DIRECTORY_VERSION ? reader_varint(&r) : 0, &directory, arena);
	read_names(&r, &directory, arena);
	if (version == DIRECTORY_VERSION)
		read_layout(&r, &directory, arena);
	if (r.failed || reader_left(&r))
		return err_set(err, ERR_INVALID, "the directory of a row is malformed");
	*ret_directory = directory;
	return true;
}
