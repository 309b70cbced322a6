// SPDX-License-Identifier: Apache-2.0
/*
 * A part of flame: the table of functions, summed over the paths.
 */
#include "flame_paths.h"

/* Sums of the group that is being read: paths come sorted, so groups stand together. */
struct tally {
	const struct flame_paths *paths;
	struct flame_table *table;
	struct arena *arena;
	uint32_t labels;       /* of the group */
	struct flame_row *row; /* by symbol */
	uint32_t *counted;     /* by symbol: the path that it was last counted for, + 1 */
	VEC(uint32_t) touched; /* symbols of the group */
};

static bool add_value(int64_t *sum, int64_t value, struct err *err)
{
	return !__builtin_add_overflow(*sum, value, sum) || merge_overflow(err);
}

static bool add_path(struct tally *tally, const struct sample *sample, uint32_t path,
		     struct err *err)
{
	size_t len = flame_path_len(tally->paths, sample);
	uint32_t leaf = flame_path_at(tally->paths, sample, len - 1);

	for (size_t i = tally->paths->merge->group_by->len; i < len; i++) {
		uint32_t symbol = flame_path_at(tally->paths, sample, i);
		struct flame_row *row = &tally->row[symbol];

		if (tally->counted[symbol] == path + 1)
			continue;
		if (row->symbol == UINT32_MAX) {
			*row = (struct flame_row){ .symbol = symbol, .labels = tally->labels };
			*vec_push(tally->arena, &tally->touched) = symbol;
		}
		tally->counted[symbol] = path + 1;
		if (!add_value(&row->total, sample->value, err))
			return false;
	}
	return add_value(&tally->row[leaf].self, sample->value, err) &&
	       add_value(&tally->table->total, sample->value, err) &&
	       merge_within_memory(tally->paths->merge, tally->arena, err);
}

static void end_group(struct tally *tally)
{
	for (size_t i = 0; i < tally->touched.len; i++) {
		struct flame_row *row = &tally->row[tally->touched.items[i]];

		*vec_push(tally->arena, &tally->table->rows) = *row;
		row->symbol = UINT32_MAX;
	}
	tally->touched.len = 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct flame_row *left = a, *right = b;

	if (left->self != right->self)
		return left->self > right->self ? -1 : 1;
	if (left->total != right->total)
		return left->total > right->total ? -1 : 1;
	if (left->symbol != right->symbol)
		return left->symbol < right->symbol ? -1 : 1;
	return (left->labels > right->labels) - (left->labels < right->labels);
}

static bool run(struct tally *tally, struct err *err)
{
	const struct sample_set *set = &tally->paths->merge->set;

	for (size_t i = 0; i < set->samples.len; i++) {
		const struct sample *sample = &set->samples.items[tally->paths->order[i]];

		if (sample->labels != tally->labels) {
			end_group(tally);
			tally->labels = sample->labels;
		}
		if (!add_path(tally, sample, (uint32_t)i, err))
			return false;
	}
	end_group(tally);
	return merge_within_memory(tally->paths->merge, tally->arena, err);
}

bool flame_table_build(struct merge *merge, struct arena *arena, struct flame_table *ret_table,
		       struct err *err)
{
	struct flame_table table = { 0 };
	struct flame_paths paths;
	struct tally tally = { .paths = &paths, .table = &table, .arena = arena };

	if (!flame_paths_make(&paths, merge, arena, err))
		return false;
	tally.counted = arena_array(arena, uint32_t, paths.symbol_count);
	tally.row = arena_array(arena, struct flame_row, paths.symbol_count);
	for (size_t i = 0; i < paths.symbol_count; i++)
		tally.row[i].symbol = UINT32_MAX;
	if (!run(&tally, err))
		return false;
	if (table.rows.len)
		qsort(table.rows.items, table.rows.len, sizeof(*table.rows.items), compare_rows);
	table.symbols = paths.symbols;
	*ret_table = table;
	return true;
}
