// SPDX-License-Identifier: Apache-2.0
#include "querier/report/flame_paths_internal.h"
#include "querier/report/flame_table_internal.h"

/* The sums of the current group: paths are sorted, so the paths of a group are adjacent. */
struct table_builder {
	const struct flame_paths *paths;
	struct flame_table *table;
	struct arena *arena;
	uint32_t labels;       /* of the group */
	struct flame_row *row; /* by symbol */
	uint32_t *counted;     /* by symbol: the last path that counted it, + 1 */
	VEC(uint32_t) touched; /* symbols of the group */
};

static bool add_value(int64_t *sum, int64_t value, struct err *err)
{
	return !__builtin_add_overflow(*sum, value, sum) || merge_overflow(err);
}

static bool add_path(struct table_builder *builder, const struct sample *sample, uint32_t path,
		     struct err *err)
{
	size_t len = flame_path_len(builder->paths, sample);
	uint32_t leaf = flame_path_at(builder->paths, sample, len - 1);

	for (size_t i = builder->paths->merge->group_by->len; i < len; i++) {
		uint32_t symbol = flame_path_at(builder->paths, sample, i);
		struct flame_row *row = &builder->row[symbol];

		if (builder->counted[symbol] == path + 1)
			continue;
		if (row->symbol == UINT32_MAX) {
			*row = (struct flame_row){ .symbol = symbol, .labels = builder->labels };
			*vec_push(builder->arena, &builder->touched) = symbol;
		}
		builder->counted[symbol] = path + 1;
		if (!add_value(&row->total, sample->value, err))
			return false;
	}
	return add_value(&builder->row[leaf].self, sample->value, err) &&
	       add_value(&builder->table->total, sample->value, err) &&
	       merge_within_memory(builder->paths->merge, builder->arena, err);
}

static void end_group(struct table_builder *builder)
{
	for (size_t i = 0; i < builder->touched.len; i++) {
		struct flame_row *row = &builder->row[builder->touched.items[i]];

		*vec_push(builder->arena, &builder->table->rows) = *row;
		row->symbol = UINT32_MAX;
	}
	builder->touched.len = 0;
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

static bool add_paths(struct table_builder *builder, struct err *err)
{
	const struct sample_set *set = &builder->paths->merge->set;

	for (size_t i = 0; i < set->samples.len; i++) {
		const struct sample *sample = &set->samples.items[builder->paths->order[i]];

		if (sample->labels != builder->labels) {
			end_group(builder);
			builder->labels = sample->labels;
		}
		if (!add_path(builder, sample, (uint32_t)i, err))
			return false;
	}
	end_group(builder);
	return merge_within_memory(builder->paths->merge, builder->arena, err);
}

bool flame_table_build(const struct flame_symbols *symbols, struct arena *arena,
		       struct flame_table *ret_table, struct err *err)
{
	struct flame_table table = { .symbols = symbols };
	struct flame_paths paths;
	struct table_builder builder = { .paths = &paths, .table = &table, .arena = arena };

	if (!flame_paths_make(&paths, symbols, 0, arena, err))
		return false;
	builder.counted = arena_array(arena, uint32_t, symbols->len);
	builder.row = arena_array(arena, struct flame_row, symbols->len);
	for (size_t i = 0; i < symbols->len; i++)
		builder.row[i].symbol = UINT32_MAX;
	if (!add_paths(&builder, err))
		return false;
	if (table.rows.len)
		qsort(table.rows.items, table.rows.len, sizeof(*table.rows.items), compare_rows);
	*ret_table = table;
	return true;
}
