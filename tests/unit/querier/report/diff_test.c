// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_type.h"
#include "querier/report/diff.h"
#include "querier/report/flame_report.h"
#include "support/random_set.h"
#include "support/test.h"

static const struct group_by ungrouped;
static struct err err;

/* Fill a merge with random stacks of few frames. */
static void merge_random(struct merge *merge, uint64_t seed, struct arena *arena)
{
	struct sample_set row;

	merge_init(merge, STR(PROFILE_TYPE_CPU), &ungrouped, UINT64_C(1) << 30, arena);
	sample_set_init(&row, arena);
	random_set_fill(&row, &(struct random_options){ .seed = seed,
							.samples = seed * 11,
							.series = 2,
							.stacks = seed * 5,
							.frames = 1 + seed * 2,
							.first_ms = 1,
							.span_ms = 1000 });
	for (size_t i = 0; i < row.samples.len; i++)
		row.samples.items[i].value = (int64_t)(i % 11) + 1;
	assert_true(merge_add_row(merge, &row, &err));
}

/* Fill two merges; the second has half of the samples of the first, and its own. */
static void merge_two(struct merge *merges, uint64_t seed, struct arena *arena)
{
	struct sample_set half;

	merge_random(&merges[0], seed, arena);
	merge_random(&merges[1], seed / 2 + 1, arena);
	half = merges[0].set;
	half.samples.len /= 2;
	assert_true(merge_add_row(&merges[1], &half, &err));
}

static void symbols_of(struct merge *a, struct merge *b, struct arena *arena,
		       struct flame_symbols *ret_symbols)
{
	struct merge *merges[] = { a, b };

	assert_true(flame_symbols_make(ret_symbols, merges, 2, FRAME_OF_BINARY, arena, &err));
}

/* The index of the next node from `from` on whose total is not 0, or the number of nodes. */
static size_t next_there(const struct flame *flame, size_t from)
{
	while (from < flame->nodes.len && flame->nodes.items[from].total == 0)
		from++;
	return from;
}

static bool same_symbol(const struct flame *a, uint32_t x, const struct flame *b, uint32_t y)
{
	assert_true(a->symbols == b->symbols);
	return a->nodes.items[x].symbol == b->nodes.items[y].symbol;
}

/*
 * The nodes of one side must be those of its flame graph, in the same order, with the same parents.
 */
static void assert_side_is(const struct flame *side, const struct flame *flame, struct arena *arena)
{
	uint32_t *places = arena_array(arena, uint32_t, flame->nodes.len + 1);
	size_t at = next_there(side, 0);

	assert_int_equal(side->total, flame->total);
	for (size_t i = 0; i < flame->nodes.len; i++, at = next_there(side, at + 1)) {
		const struct flame_node *want = &flame->nodes.items[i];

		assert_true(at < side->nodes.len);
		assert_true(same_symbol(side, (uint32_t)at, flame, (uint32_t)i));
		assert_int_equal(side->nodes.items[at].self, want->self);
		assert_int_equal(side->nodes.items[at].total, want->total);
		assert_int_equal(side->nodes.items[at].parent, want->parent == FLAME_NO_PARENT
								       ? FLAME_NO_PARENT
								       : places[want->parent]);
		places[i] = (uint32_t)at;
	}
	assert_int_equal(at, side->nodes.len);
}

/* No two children of a node have the same symbol: a function of both sides is one node. */
static void assert_children_differ(const struct flame *flame)
{
	for (size_t i = 0; i < flame->nodes.len; i++)
		for (size_t j = i + 1; j < flame->nodes.len && j < i + 200; j++)
			if (flame->nodes.items[i].parent == flame->nodes.items[j].parent)
				assert_false(same_symbol(flame, (uint32_t)i, flame, (uint32_t)j));
}

static void each_side_of_any_two_is_its_own_flame_graph(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 60; seed++) {
		AUTO_ARENA arena = { 0 };
		struct merge merges[2];
		struct flame_symbols symbols;
		struct flame a, b;
		struct diff diff;

		merge_two(merges, seed, &arena);
		symbols_of(&merges[0], &merges[1], &arena, &symbols);
		assert_true(flame_build(&symbols, 0, &arena, &a, &err));
		assert_true(flame_build(&symbols, 1, &arena, &b, &err));
		assert_true(diff_build(&symbols, &arena, &diff, &err));
		assert_int_equal(diff.a.nodes.len, diff.b.nodes.len);
		assert_side_is(&diff.a, &a, &arena);
		assert_side_is(&diff.b, &b, &arena);
		assert_children_differ(&diff.a);
	}
}

static void equal_graphs_become_one(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct flame_symbols symbols;
	struct merge merge;
	struct flame flame;
	struct diff diff;

	(void)state;
	merge_random(&merge, 9, &arena);
	symbols_of(&merge, &merge, &arena, &symbols);
	assert_true(flame_build(&symbols, 0, &arena, &flame, &err));
	assert_true(diff_build(&symbols, &arena, &diff, &err));
	assert_int_equal(diff.a.nodes.len, flame.nodes.len);
	for (size_t i = 0; i < flame.nodes.len; i++)
		assert_int_equal(diff.a.nodes.items[i].total, diff.b.nodes.items[i].total);
}

static void add_stack(struct sample_set *row, const char *const *functions, size_t len,
		      int64_t value)
{
	uint32_t frames[4];

	for (size_t i = 0; i < len; i++)
		frames[i] = sample_set_frame(row,
					     &(struct frame){ .type = STR("native"),
							      .path = STR("/bin/p"),
							      .function = str_from(functions[i]) });
	sample_set_add(row, (struct sample){ .series = sample_set_series(row, STR(PROFILE_TYPE_CPU),
									 (struct labels){ 0 }, 1),
					     .stack = sample_set_stack(row, frames, len),
					     .value = value });
}

static void removed_and_new_functions_stay(void **state)
{
	static const char *const before[] = { "main", "gone" }, *const after[] = { "main", "new" };
	static const char expected[] =
		"{\"status\":\"success\",\"data\":{\"unit\":\"nanoseconds\",\"a_total\":3,"
		"\"b_total\":5,\"names\":[\"\",\"main\",\"p\",\"gone\",\"new\"],"
		"\"nodes\":{\"parent\":[-1,0,0],\"name\":[1,3,4],";
	AUTO_ARENA arena = { 0 };
	struct query_stats stats = { 0 };
	struct merge merges[2];
	struct flame_symbols symbols;
	struct diff diff;
	str body;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct sample_set row;

		merge_init(&merges[i], STR(PROFILE_TYPE_CPU), &ungrouped, 1 << 30, &arena);
		sample_set_init(&row, &arena);
		add_stack(&row, i ? after : before, 2, i ? 5 : 3);
		assert_true(merge_add_row(&merges[i], &row, &err));
	}
	symbols_of(&merges[0], &merges[1], &arena, &symbols);
	assert_true(diff_build(&symbols, &arena, &diff, &err));

	const struct report_input input = { .merge = &merges[1],
					    .type = STR(PROFILE_TYPE_CPU),
					    .columns = REPORT_COLUMNS_DEFAULT,
					    .stats = &stats };

	assert_true(diff_report_write(&input, &diff, &arena, &body, &err));
	assert_string_equal(str_z(&arena, (str){ body.ptr, sizeof(expected) - 1 }), expected);
	assert_true(str_find(body, STR("\"a_self\":[0,3,0],\"a_total\":[3,3,0],"
				       "\"b_self\":[0,0,5],\"b_total\":[5,0,5]}}")) != SIZE_MAX);
}

static void ends_at_the_memory_limit(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct flame_symbols symbols;
	struct merge merge;
	struct diff diff;

	(void)state;
	merge_random(&merge, 20, &arena);
	symbols_of(&merge, &merge, &arena, &symbols);
	merge.memory_max = 1;
	assert_false(diff_build(&symbols, &arena, &diff, &err));
	assert_int_equal(err.code, ERR_LIMIT);
}

RUN_TESTS(TEST(each_side_of_any_two_is_its_own_flame_graph), TEST(equal_graphs_become_one),
	  TEST(removed_and_new_functions_stay), TEST(ends_at_the_memory_limit))
