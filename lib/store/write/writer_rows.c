// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "store/chunk/chunk_rows.h"
#include "store/write/raw_row.h"
#include "store/write/writer_rows_internal.h"

enum { RAW_LEVEL = 1 };

/* The samples of a part by bucket: bucket b has order[first[b]] to order[first[b + 1] - 1]. */
struct sorted {
	const struct sample_set *set;
	uint32_t *order;
	size_t first[SERIES_BUCKETS + 1];
};

static struct sorted sort_by_bucket(const struct sample_set *set, struct arena *arena)
{
	struct sorted sorted = { .set = set };
	uint8_t *buckets = arena_array(arena, uint8_t, set->series.len);
	size_t next[SERIES_BUCKETS];

	for (size_t i = 0; i < set->series.len; i++)
		buckets[i] = (uint8_t)series_bucket(set->series.items[i].labels);
	for (size_t i = 0; i < set->samples.len; i++)
		sorted.first[buckets[set->samples.items[i].series] + 1]++;
	for (size_t i = 0; i < SERIES_BUCKETS; i++)
		sorted.first[i + 1] += sorted.first[i];
	memcpy(next, sorted.first, sizeof(next));
	sorted.order = arena_array(arena, uint32_t, set->samples.len);
	for (size_t i = 0; i < set->samples.len; i++)
		sorted.order[next[buckets[set->samples.items[i].series]]++] = (uint32_t)i;
	return sorted;
}

/* The set with other samples; the tables are shared. */
static struct sample_set view(const struct sample_set *set, struct sample *samples, size_t count)
{
	struct sample_set viewed = *set;

	viewed.samples.items = samples;
	viewed.samples.len = viewed.samples.cap = count;
	return viewed;
}

static void note_hour(struct flush *flush, uint64_t unix_ms)
{
	uint64_t hour_ms = unix_ms - unix_ms % MS_PER_HOUR;

	for (size_t i = 0; i < flush->hours.len; i++)
		if (flush->hours.items[i] == hour_ms)
			return;
	*vec_push(&flush->arena, &flush->hours) = hour_ms;
}

static void note_day(struct flush *flush, uint64_t unix_ms)
{
	uint64_t day_ms = unix_ms - unix_ms % MS_PER_DAY;

	for (size_t i = 0; i < flush->days.len; i++)
		if (flush->days.items[i] == day_ms)
			return;
	*vec_push(&flush->arena, &flush->days) = day_ms;
}

/* Receives the rows of one bucket. */
struct bucket_rows {
	struct flush *flush;
	int32_t bucket;
};

static void put_row(void *self, const struct chunk_row *row)
{
	const struct bucket_rows *rows = self;
	struct flush *flush = rows->flush;

	for (size_t i = 0; i < row->set->samples.len; i++)
		note_day(flush, row->set->samples.items[i].time_ms);

	const struct raw_row raw = { .now_ms = flush->now_ms, .bucket = rows->bucket };

	note_hour(flush, raw_row_copy(&raw, row, &flush->copy));
	flush->result.rows++;
	flush->result.bytes += row->payload.len;
	flush->result.samples += row->set->samples.len;
}

/* Merges the samples of one bucket from all parts. Memory of a bucket is in `scratch`. */
static void make_bucket(struct flush *flush, int32_t bucket, const struct sorted *sorted,
			size_t count, struct arena *scratch)
{
	struct sample_set merged;
	struct sample *samples;
	size_t total = 0, most = 0;

	for (size_t i = 0; i < count; i++) {
		size_t len = sorted[i].first[bucket + 1] - sorted[i].first[bucket];

		total += len;
		most = len > most ? len : most;
	}
	if (total == 0)
		return;
	sample_set_init(&merged, scratch);
	merged.samples.items = arena_array(scratch, struct sample, total);
	merged.samples.cap = total;
	samples = arena_array(scratch, struct sample, most);
	for (size_t i = 0; i < count; i++) {
		size_t first = sorted[i].first[bucket], end = sorted[i].first[bucket + 1];

		for (size_t j = first; j < end; j++)
			samples[j - first] = sorted[i].set->samples.items[sorted[i].order[j]];

		struct sample_set part = view(sorted[i].set, samples, end - first);

		if (end > first)
			sample_set_merge(&merged, &part, NULL);
	}
	chunk_rows_make(&merged, RAW_LEVEL, scratch,
			&(struct chunk_row_sink){
				.put = put_row,
				.self = &(struct bucket_rows){ flush, bucket },
			});
}

void writer_rows_make(struct flush *flush)
{
	AUTO_ARENA scratch = { 0 };
	struct sorted *sorted = arena_array(&flush->arena, struct sorted, flush->part_count);
	size_t count = 0;

	for (size_t i = 0; i < flush->part_count; i++)
		if (!flush->parts[i].lost && flush->parts[i].samples)
			sorted[count++] = sort_by_bucket(flush->parts[i].samples, &flush->arena);
	flush->copy.arena = &flush->arena;
	postgres_copy_begin(&flush->copy);
	for (int32_t bucket = 0; bucket < SERIES_BUCKETS; bucket++) {
		make_bucket(flush, bucket, sorted, count, &scratch);
		arena_reset(&scratch);
	}
	postgres_copy_end(&flush->copy);
}
