// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "store/failpoints.h"
#include "store/label_pair.h"
#include "store/limits.h"
#include "store/write/writer_series_internal.h"

struct pair_row {
	int64_t day, id;
	str name, value;
};

struct series_row {
	int64_t day, id;
	const int64_t *pairs;
	size_t pair_count;
};

struct upsert {
	struct flush *flush;
	VEC(struct pair_row) pairs;
	VEC(struct series_row) series;
	VEC(uint64_t) keys;    /* added to the seen-ids cache after the commit */
	struct map flush_keys; /* keys of this flush, 8 bytes each */
	VEC(struct postgres_statement) statements;
	uint64_t seen;
};

static uint64_t key_of(int64_t day, int64_t id)
{
	int64_t both[] = { day, id };

	return hash_64((str){ (const char *)both, sizeof(both) });
}

/* True if the key must be written; it is then added to the keys of the flush. */
static bool add_key(struct upsert *upsert, uint64_t key)
{
	struct arena *arena = &upsert->flush->arena;
	str bytes = { (const char *)&key, sizeof(key) };

	if (map_get(&upsert->flush_keys, bytes))
		return false;
	*map_at(&upsert->flush_keys, str_copy(arena, bytes)) = upsert;
	upsert->seen++;
	if (seen_ids_has(&upsert->flush->writer->seen_ids, key))
		return false;
	*vec_push(arena, &upsert->keys) = key;
	return true;
}

static int64_t add_pair(struct upsert *upsert, int64_t day, str name, str value)
{
	struct arena *arena = &upsert->flush->arena;
	int64_t id = label_pair_id(name, value, arena);

	*vec_push(arena, &upsert->pairs) = (struct pair_row){ day, id, name, value };
	return id;
}

static void add_series(struct upsert *upsert, const struct series *series, int64_t day)
{
	struct arena *arena = &upsert->flush->arena;
	struct series_row row = { .day = day, .id = (int64_t)series->id };

	if (!add_key(upsert, key_of(day, row.id)))
		return;

	int64_t *pairs = arena_array(arena, int64_t, series->labels.len + 1);

	pairs[row.pair_count++] = add_pair(upsert, day, PAIR_TYPE, series->type);
	for (size_t i = 0; i < series->labels.len; i++) {
		const struct label *label = &series->labels.items[i];

		if (!label_name_is_reserved(label->name))
			pairs[row.pair_count++] = add_pair(upsert, day, label->name, label->value);
	}
	row.pairs = pairs;
	*vec_push(arena, &upsert->series) = row;
}

static void add_sample_names(struct upsert *upsert, struct labels labels, int64_t day)
{
	for (size_t i = 0; i < labels.len; i++) {
		str name = labels.items[i].name;
		int64_t id = label_pair_id(PAIR_SAMPLE, name, &upsert->flush->arena);

		if (add_key(upsert, key_of(day, id)))
			add_pair(upsert, day, PAIR_SAMPLE, name);
	}
}

/* Consecutive samples of a series are close in time, so the day seldom changes. */
static void find_new(struct upsert *upsert, const struct sample_set *set)
{
	struct arena *arena = &upsert->flush->arena;
	int64_t *series_days = arena_array(arena, int64_t, set->series.len);
	int64_t *label_days = arena_array(arena, int64_t, set->label_sets.len);

	for (size_t i = 0; i < set->samples.len; i++) {
		const struct sample *sample = &set->samples.items[i];
		int64_t day = (int64_t)(sample->time_ms / MS_PER_DAY);

		/* Days are stored plus one; 0: unset. */
		if (series_days[sample->series] != day + 1)
			add_series(upsert, &set->series.items[sample->series], day);
		if (label_days[sample->labels] != day + 1)
			add_sample_names(upsert, set->label_sets.items[sample->labels], day);
		series_days[sample->series] = label_days[sample->labels] = day + 1;
	}
}

/* Both kinds of rows start with this key. */
struct key_row {
	int64_t day, id;
};

static int compare_keys(const void *a, const void *b)
{
	const struct key_row *x = a, *y = b;

	if (x->day != y->day)
		return x->day < y->day ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static void sort_and_drop_equal(struct upsert *upsert)
{
	size_t kept = 0;

	if (upsert->pairs.len)
		qsort(upsert->pairs.items, upsert->pairs.len, sizeof(struct pair_row),
		      compare_keys);
	if (upsert->series.len)
		qsort(upsert->series.items, upsert->series.len, sizeof(struct series_row),
		      compare_keys);
	for (size_t i = 0; i < upsert->pairs.len; i++)
		if (!kept ||
		    compare_keys(&upsert->pairs.items[i], &upsert->pairs.items[kept - 1]) != 0)
			upsert->pairs.items[kept++] = upsert->pairs.items[i];
	upsert->pairs.len = kept;
}

static void send_pairs(struct upsert *upsert, size_t first, size_t count)
{
	static const char sql[] = "INSERT INTO label_pair (day, id, name, value) "
				  "SELECT * FROM unnest($1, $2, $3, $4) ON CONFLICT DO NOTHING";
	struct arena *arena = &upsert->flush->arena;
	int64_t *days = arena_array(arena, int64_t, count),
		*ids = arena_array(arena, int64_t, count);
	str *names = arena_array(arena, str, count), *values = arena_array(arena, str, count);
	struct postgres_param *params = arena_array(arena, struct postgres_param, 4);

	for (size_t i = 0; i < count; i++) {
		const struct pair_row *row = &upsert->pairs.items[first + i];

		days[i] = row->day;
		ids[i] = row->id;
		names[i] = row->name;
		values[i] = row->value;
	}
	params[0] = postgres_dates(arena, days, count);
	params[1] = postgres_i64s(arena, ids, count);
	params[2] = postgres_texts(arena, names, count);
	params[3] = postgres_texts(arena, values, count);
	*vec_push(arena, &upsert->statements) = (struct postgres_statement){ sql, params, 4 };
}

/* Arrays of different lengths cannot be unnested together: each row is a slice of one array. */
static void send_series(struct upsert *upsert, size_t first, size_t count)
{
	static const char sql[] = "INSERT INTO series (day, id, pairs) "
				  "SELECT day, id, $5[begin_at:end_at] "
				  "FROM unnest($1, $2, $3, $4) AS row (day, id, begin_at, end_at) "
				  "ON CONFLICT DO NOTHING";
	struct arena *arena = &upsert->flush->arena;
	int64_t *days = arena_array(arena, int64_t, count),
		*ids = arena_array(arena, int64_t, count);
	int32_t *begins = arena_array(arena, int32_t, count),
		*ends = arena_array(arena, int32_t, count);
	struct postgres_param *params = arena_array(arena, struct postgres_param, 5);
	VEC(int64_t) pairs = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct series_row *row = &upsert->series.items[first + i];

		days[i] = row->day;
		ids[i] = row->id;
		begins[i] = (int32_t)pairs.len + 1;
		for (size_t j = 0; j < row->pair_count; j++)
			*vec_push(arena, &pairs) = row->pairs[j];
		ends[i] = (int32_t)pairs.len;
	}
	params[0] = postgres_dates(arena, days, count);
	params[1] = postgres_i64s(arena, ids, count);
	params[2] = postgres_i32s(arena, begins, count);
	params[3] = postgres_i32s(arena, ends, count);
	params[4] = postgres_i64s(arena, pairs.items, pairs.len);
	*vec_push(arena, &upsert->statements) = (struct postgres_statement){ sql, params, 5 };
}

bool writer_series_put(struct flush *flush, struct err *err)
{
	struct upsert upsert = { .flush = flush, .flush_keys = { .arena = &flush->arena } };
	struct store_writer *writer = flush->writer;

	for (size_t i = 0; i < flush->part_count; i++)
		if (!flush->parts[i].lost && flush->parts[i].samples)
			find_new(&upsert, flush->parts[i].samples);
	sort_and_drop_equal(&upsert);
	for (size_t i = 0; i < upsert.pairs.len; i += UPSERT_ROWS)
		send_pairs(&upsert, i,
			   upsert.pairs.len - i < UPSERT_ROWS ? upsert.pairs.len - i : UPSERT_ROWS);
	for (size_t i = 0; i < upsert.series.len; i += UPSERT_ROWS)
		send_series(&upsert, i,
			    upsert.series.len - i < UPSERT_ROWS ? upsert.series.len - i
								: UPSERT_ROWS);
	if (upsert.statements.len && !postgres_pipeline(&writer->pg, upsert.statements.items,
							upsert.statements.len, NULL, err))
		return err_wrap(err, "store new series");
	if (upsert.statements.len)
		failpoint(&failpoint_after_series);
	/* Only after the commit: a rolled back upsert must be repeated. */
	for (size_t i = 0; i < upsert.keys.len; i++)
		seen_ids_add(&writer->seen_ids, upsert.keys.items[i]);
	flush->result.series_new = upsert.series.len;
	writer->series_new += upsert.series.len;
	writer->cache_hits += upsert.seen - upsert.keys.len;
	writer->cache_misses += upsert.keys.len;
	return true;
}
