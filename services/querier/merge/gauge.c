// SPDX-License-Identifier: Apache-2.0
#include "base/sorted.h"
#include "querier/merge/gauge_internal.h"
#include "querier/querier_limits.h"

#include <assert.h>
#include <inttypes.h>

/* A mean while it is added up: wide enough for sums of many 64-bit values. */
__extension__ typedef __int128 wide;

enum { MILLION = 1000000 };

struct gauge_source {
	VEC(uint64_t) times; /* of its profiles; sorted and each once after gauge_sort_times() */
	/* of the last interval that was averaged */
	uint64_t interval, profiles, first_slot, last_slot;
};

struct gauge *gauge_new(struct arena *arena)
{
	struct gauge *gauge = arena_new(arena, struct gauge);

	*gauge = (struct gauge){ .arena = arena, .sources = { .arena = arena } };
	return gauge;
}

str gauge_source_name(const struct sample_set *row, const struct sample *sample,
		      struct arena *arena)
{
	str pid = labels_get(row->label_sets.items[sample->labels], STR("pid"));

	return str_format(arena, "%016" PRIx64 "/" STR_FMT, row->series.items[sample->series].id,
			  STR_ARG(pid));
}

static struct gauge_source *source_at(struct gauge *gauge, str name)
{
	struct gauge_source *source = map_get(&gauge->sources, name);

	if (!source) {
		source = arena_new(gauge->arena, struct gauge_source);
		*map_at(&gauge->sources, str_copy(gauge->arena, name)) = source;
	}
	return source;
}

static void add_time(struct gauge *gauge, struct gauge_source *source, uint64_t time_ms)
{
	if (!source->times.len || source->times.items[source->times.len - 1] != time_ms)
		*vec_push(gauge->arena, &source->times) = time_ms;
}

void gauge_observe(struct gauge *gauge, const struct sample_set *row)
{
	AUTO_ARENA scratch = { 0 };
	struct gauge_source **sources =
		arena_array(&scratch, struct gauge_source *, row->label_sets.len);
	uint32_t series = UINT32_MAX; /* the series of `sources` */

	for (size_t i = 0; i < row->samples.len; i++) {
		const struct sample *sample = &row->samples.items[i];

		if (sample->series != series)
			memset(sources, 0, row->label_sets.len * sizeof(struct gauge_source *));
		series = sample->series;
		if (!sources[sample->labels])
			sources[sample->labels] =
				source_at(gauge, gauge_source_name(row, sample, &scratch));
		add_time(gauge, sources[sample->labels], sample->time_ms);
	}
}

void gauge_combine(struct gauge *gauge, const struct gauge *other)
{
	map_for_each(&other->sources, slot) {
		const struct gauge_source *from = slot->value;
		struct gauge_source *into = source_at(gauge, slot->key);

		for (size_t i = 0; i < from->times.len; i++)
			add_time(gauge, into, from->times.items[i]);
	}
}

static int compare_times(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

void gauge_sort_times(struct gauge *gauge)
{
	map_for_each(&gauge->sources, slot) {
		struct gauge_source *source = slot->value;
		uint64_t *times = source->times.items;
		size_t kept = 0;

		qsort(times, source->times.len, sizeof(*times), compare_times);
		for (size_t i = 0; i < source->times.len; i++)
			if (i == 0 || times[i] != times[i - 1])
				times[kept++] = times[i];
		source->times.len = kept;
	}
}

struct gauge_source *gauge_find(const struct gauge *gauge, struct labels group)
{
	return map_get(&gauge->sources, labels_get(group, GAUGE_SOURCE));
}

/* The number of times before time_ms. */
static size_t times_before(const struct gauge_source *source, uint64_t time_ms)
{
	return sorted_before(source->times.items, source->times.len, each, *each < time_ms);
}

static void measure_interval(struct gauge_source *source, uint64_t start_ms, uint64_t end_ms)
{
	size_t first = times_before(source, start_ms), end = times_before(source, end_ms);

	assert(first < end); /* it has a sum, so it was observed */
	source->profiles = end - first;
	source->first_slot = (source->times.items[first] - start_ms) / GAUGE_SLOT_MS;
	source->last_slot = (source->times.items[end - 1] - start_ms) / GAUGE_SLOT_MS;
}

static int compare_first_slots(const void *a, const void *b)
{
	const struct gauge_source *left = *(struct gauge_source *const *)a;
	const struct gauge_source *right = *(struct gauge_source *const *)b;

	return (left->first_slot > right->first_slot) - (left->first_slot < right->first_slot);
}

/* The number of slots in which any of the sources exists. */
static uint64_t slots_of(struct gauge_source **sources, size_t count)
{
	uint64_t slots = 0, next = 0; /* the first slot that is not counted yet */

	if (count)
		qsort(sources, count, sizeof(struct gauge_source *), compare_first_slots);
	for (size_t i = 0; i < count; i++) {
		uint64_t first = sources[i]->first_slot > next ? sources[i]->first_slot : next;

		if (sources[i]->last_slot < first)
			continue;
		slots += sources[i]->last_slot - first + 1;
		next = sources[i]->last_slot + 1;
	}
	return slots;
}

static uint64_t measure_sources(struct gauge *gauge, const struct gauge_sum *sums, size_t count,
				uint64_t start_ms, uint64_t end_ms)
{
	AUTO_ARENA scratch = { 0 };
	VEC(struct gauge_source *) sources = { 0 };

	gauge->interval++;
	for (size_t i = 0; i < count; i++) {
		struct gauge_source *source = sums[i].source;

		if (source->interval == gauge->interval)
			continue;
		source->interval = gauge->interval;
		measure_interval(source, start_ms, end_ms);
		*vec_push(&scratch, &sources) = source;
	}
	return slots_of(sources.items, sources.len);
}

/* Rounds to the nearest; halves up. */
static wide divide(wide value, wide by)
{
	assert(by > 0); /* a source has profiles, and exists in at least one slot */

	wide twice = 2 * value + by, quotient = twice / (2 * by);

	return quotient - (twice % (2 * by) < 0); /* C division truncates towards 0 */
}

static wide share_of(const struct gauge_sum *sum, uint64_t slots)
{
	const struct gauge_source *source = sum->source;
	uint64_t there = source->last_slot - source->first_slot + 1;

	return divide((wide)sum->value * MILLION * (wide)there,
		      (wide)source->profiles * (wide)slots);
}

static int compare_keys(const void *a, const void *b)
{
	const struct gauge_sum *left = a, *right = b;

	return (left->key > right->key) - (left->key < right->key);
}

bool gauge_average(struct gauge *gauge, struct gauge_sum *sums, size_t *count, uint64_t start_ms,
		   uint64_t end_ms, struct err *err)
{
	uint64_t slots = measure_sources(gauge, sums, *count, start_ms, end_ms);
	size_t kept = 0;

	if (*count)
		qsort(sums, *count, sizeof(*sums), compare_keys);
	for (size_t i = 0; i < *count;) {
		uint64_t key = sums[i].key;
		wide mean = 0;

		for (; i < *count && sums[i].key == key; i++)
			mean += share_of(&sums[i], slots);
		mean = divide(mean, MILLION);
		if (mean > INT64_MAX || mean < INT64_MIN)
			return err_set(err, ERR_LIMIT,
				       "a mean exceeds 64 bits: ask for fewer series");
		sums[kept++] = (struct gauge_sum){ .key = key, .value = (int64_t)mean };
	}
	*count = kept;
	return true;
}
