// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_type.h"
#include "querier/report/binary_name.h"
#include "querier/report/collapsed_internal.h"
#include "querier/report/flame.h"
#include "querier/report/flame_report.h"
#include "querier/report/flame_table_internal.h"
#include "querier/report/table_report.h"
#include "support/random_set.h"
#include "support/test.h"

#include <inttypes.h>

static const struct group_by ungrouped;
static struct err err;

static bool build(struct merge *merge, struct arena *arena, struct flame *ret_flame)
{
	struct flame_symbols *symbols = arena_array(arena, struct flame_symbols, 1);

	*ret_flame = (struct flame){ 0 };
	return flame_symbols_make(symbols, &merge, 1, FRAME_OF_BINARY, arena, &err) &&
	       flame_build(symbols, 0, arena, ret_flame, &err);
}

static bool build_table(struct merge *merge, struct arena *arena, struct flame_table *ret_table)
{
	struct flame_symbols *symbols = arena_array(arena, struct flame_symbols, 1);

	*ret_table = (struct flame_table){ 0 };
	return flame_symbols_make(symbols, &merge, 1, FRAME_OF_BINARY, arena, &err) &&
	       flame_table_build(symbols, arena, ret_table, &err);
}

struct line {
	str stack;
	int64_t value;
};

static int compare_lines(const void *a, const void *b)
{
	return str_compare(((const struct line *)a)->stack, ((const struct line *)b)->stack);
}

/* Fill a merge with random samples; returns their sum. */
static int64_t merge_random(struct merge *merge, uint64_t seed, const struct group_by *by,
			    struct arena *arena)
{
	struct sample_set row;
	int64_t sum = 0;

	merge_init(merge, STR(PROFILE_TYPE_CPU), by, UINT64_C(1) << 30, arena);
	sample_set_init(&row, arena);
	random_set_fill(&row, &(struct random_options){ .seed = seed,
							.samples = seed * 37,
							.series = 1 + seed % 6,
							.stacks = seed * 9,
							.frames = seed * 4,
							.label_sets = seed % 8,
							.first_ms = 1,
							.span_ms = 1000 });
	for (size_t i = 0; i < row.samples.len; i++) {
		row.samples.items[i].value = (int64_t)(i % 11) + 1;
		sum += row.samples.items[i].value;
	}
	assert_true(merge_add_row(merge, &row, &err));
	return sum;
}

static void assert_is_preorder(const struct flame *flame)
{
	for (size_t i = 0; i < flame->nodes.len; i++) {
		uint32_t parent = flame->nodes.items[i].parent;
		uint32_t above = i ? (uint32_t)i - 1 : FLAME_NO_PARENT;
		uint32_t sibling = FLAME_NO_PARENT;

		/*
		 * The parent is the previous node, or an ancestor of it whose previous child is
		 * complete.
		 */
		while (above != parent) {
			assert_true(above != FLAME_NO_PARENT);
			sibling = above;
			above = flame->nodes.items[above].parent;
		}
		if (sibling != FLAME_NO_PARENT)
			assert_true(flame->nodes.items[sibling].symbol <
				    flame->nodes.items[i].symbol);
	}
}

static void assert_sums_hold(const struct flame *flame, int64_t sum)
{
	int64_t selves = 0, roots = 0;

	for (size_t i = 0; i < flame->nodes.len; i++) {
		const struct flame_node *node = &flame->nodes.items[i];
		int64_t below = 0;

		for (size_t j = i + 1; j < flame->nodes.len; j++)
			if (flame->nodes.items[j].parent == i)
				below += flame->nodes.items[j].total;
		assert_int_equal(node->total, node->self + below);
		selves += node->self;
		if (node->parent == FLAME_NO_PARENT)
			roots += node->total;
	}
	assert_int_equal(selves, sum);
	assert_int_equal(roots, sum);
	assert_int_equal(flame->total, sum);
}

static str path_of(const struct flame *flame, uint32_t node, struct arena *arena)
{
	const struct flame_node *at = &flame->nodes.items[node];
	str name = flame->symbols->items[at->symbol].name;

	if (at->parent == FLAME_NO_PARENT)
		return name;

	str above = path_of(flame, at->parent, arena);

	return str_format(arena, STR_FMT ";" STR_FMT, STR_ARG(above), STR_ARG(name));
}

/* The tree, written as lines, must be equal to the collapsed report. */
static void assert_reads_as_collapsed(const struct flame *flame, struct merge *merge,
				      struct arena *arena)
{
	struct line *lines = arena_array(arena, struct line, flame->nodes.len);
	struct buf text = { .arena = arena };
	size_t count = 0;
	str expected;

	for (size_t i = 0; i < flame->nodes.len; i++)
		if (flame->nodes.items[i].self)
			lines[count++] = (struct line){ path_of(flame, (uint32_t)i, arena),
							flame->nodes.items[i].self };
	if (count)
		qsort(lines, count, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < count; i++) {
		if (i + 1 < count && str_eq(lines[i].stack, lines[i + 1].stack))
			lines[i + 1].value += lines[i].value;
		else
			buf_format(&text, STR_FMT " %" PRId64 "\n", STR_ARG(lines[i].stack),
				   lines[i].value);
	}
	assert_true(collapsed_write(merge, arena, &expected, &err));
	assert_string_equal(str_z(arena, buf_bytes(&text)), str_z(arena, expected));
}

static void every_tree_is_in_preorder_and_its_sums_hold(void **state)
{
	static const struct group_by by = { .names = { { "comm", 4 }, { "pid", 3 } }, .len = 2 };

	(void)state;
	for (uint64_t seed = 0; seed < 40; seed++) {
		AUTO_ARENA arena = { 0 };
		struct merge merge;
		struct flame flame;
		int64_t sum = merge_random(&merge, seed, seed % 2 ? &by : &ungrouped, &arena);

		assert_true(build(&merge, &arena, &flame));
		assert_is_preorder(&flame);
		assert_sums_hold(&flame, sum);
		assert_reads_as_collapsed(&flame, &merge, &arena);
	}
}

/* True if the sample's stack contains the function of the row; compares the texts of frames. */
static bool goes_through(const struct sample_set *set, const struct sample *sample, str name,
			 str binary, bool leaf_only)
{
	struct stack stack = set->stacks.items[sample->stack];
	AUTO_ARENA arena = { 0 };

	if (stack.len == 0)
		return str_eq(name, STR("[no stack]"));
	for (size_t i = leaf_only ? stack.len - 1 : 0; i < stack.len; i++) {
		const struct frame *frame = &set->frames.items[stack.frames[i]];
		str path = frame->path;
		str text = frame->function;

		while (text.len == 0 && path.len) {
			str part = str_cut(&path, '/');

			if (path.len == 0)
				text = str_format(&arena, STR_FMT "+0x%" PRIx64, STR_ARG(part),
						  frame->address);
		}
		if (str_eq(text, name) && str_eq(binary_base_name(frame->path), binary))
			return true;
	}
	return false;
}

/*
 * True if another row of the group has the same name and binary, but another file or build: the
 * check above cannot distinguish them.
 */
static bool has_twin(const struct flame_table *table, size_t row)
{
	const struct flame_symbol *symbol = &table->symbols->items[table->rows.items[row].symbol];

	for (size_t i = 0; i < table->rows.len; i++) {
		const struct flame_row *other = &table->rows.items[i];
		const struct flame_symbol *twin = &table->symbols->items[other->symbol];

		if (i != row && other->labels == table->rows.items[row].labels &&
		    str_eq(twin->name, symbol->name) && str_eq(twin->binary, symbol->binary))
			return true;
	}
	return false;
}

static int64_t sum_by_hand(const struct sample_set *set, uint32_t labels,
			   const struct flame_symbol *symbol, bool leaf_only)
{
	int64_t sum = 0;

	for (size_t i = 0; i < set->samples.len; i++) {
		const struct sample *sample = &set->samples.items[i];

		if (sample->labels == labels &&
		    goes_through(set, sample, symbol->name, symbol->binary, leaf_only))
			sum += sample->value;
	}
	return sum;
}

static void assert_rows_are_right(const struct flame_table *table, const struct merge *merge)
{
	for (size_t i = 0; i < table->rows.len; i++) {
		const struct flame_row *row = &table->rows.items[i];
		const struct flame_symbol *symbol = &table->symbols->items[row->symbol];

		if (has_twin(table, i))
			continue;
		assert_int_equal(row->self, sum_by_hand(&merge->set, row->labels, symbol, true));
		assert_int_equal(row->total, sum_by_hand(&merge->set, row->labels, symbol, false));
	}
}

static void every_table_has_the_sums_of_each_function(void **state)
{
	static const struct group_by by = { .names = { { "comm", 4 } }, .len = 1 };

	(void)state;
	for (uint64_t seed = 1; seed < 16; seed++) {
		AUTO_ARENA arena = { 0 };
		struct merge merge;
		struct flame_table table;
		int64_t selves = 0;
		int64_t sum = merge_random(&merge, seed, seed % 2 ? &by : &ungrouped, &arena);

		assert_true(build_table(&merge, &arena, &table));
		for (size_t i = 0; i < table.rows.len; i++)
			selves += table.rows.items[i].self;
		assert_int_equal(selves, sum);
		assert_int_equal(table.total, sum);
		assert_rows_are_right(&table, &merge);
	}
}

/* A row of one stack of functions, root first. */
static void add_stack(struct sample_set *row, const struct frame *frames, size_t len, int64_t value)
{
	uint32_t indexes[8];

	for (size_t i = 0; i < len; i++)
		indexes[i] = sample_set_frame(row, &frames[i]);
	sample_set_add(row, (struct sample){ .stack = sample_set_stack(row, indexes, len),
					     .value = value });
}

static void begin_row(struct sample_set *row, struct arena *arena)
{
	sample_set_init(row, arena);
	sample_set_series(row, STR(PROFILE_TYPE_CPU), (struct labels){ 0 }, 0);
}

static void merge_row(struct merge *merge, const struct sample_set *row, struct arena *arena)
{
	merge_init(merge, STR(PROFILE_TYPE_CPU), &ungrouped, 1 << 26, arena);
	assert_true(merge_add_row(merge, row, &err));
}

static void a_function_that_calls_itself_counts_once_in_a_stack(void **state)
{
	static const struct frame f = { .function = { "f", 1 } }, g = { .function = { "g", 1 } };
	AUTO_ARENA arena = { 0 };
	struct flame_table table;
	struct sample_set row;
	struct merge merge;

	(void)state;
	begin_row(&row, &arena);
	add_stack(&row, (const struct frame[]){ f, g, f, f }, 4, 5);
	add_stack(&row, (const struct frame[]){ f, g }, 2, 3);
	merge_row(&merge, &row, &arena);
	assert_true(build_table(&merge, &arena, &table));

	assert_int_equal(table.rows.len, 2);
	assert_string_equal(str_z(&arena, table.symbols->items[table.rows.items[0].symbol].name),
			    "f");
	assert_int_equal(table.rows.items[0].self, 5);
	assert_int_equal(table.rows.items[0].total, 8);
	assert_int_equal(table.rows.items[1].self, 3);
	assert_int_equal(table.rows.items[1].total, 8);
}

/* Statistics follow, which another test checks. */
static void assert_data_is(str body, const char *data)
{
	AUTO_ARENA arena = { 0 };
	str expected = str_format(&arena, "{\"status\":\"success\",\"data\":%s,\"stats\":{", data);

	assert_true(body.len > expected.len);
	body.len = expected.len;
	assert_string_equal(str_z(&arena, body), str_z(&arena, expected));
}

static void a_function_is_one_node_in_all_builds_and_an_address_is_not(void **state)
{
	static const struct frame frames[] = {
		{ .function = { "f", 1 }, .path = { "/a", 2 }, .build_id = { "01", 2 }, .line = 3 },
		{ .function = { "f", 1 }, .path = { "/a", 2 }, .build_id = { "02", 2 }, .line = 4 },
		{ .path = { "/a", 2 }, .build_id = { "01", 2 }, .address = 0x1f },
		{ .path = { "/a", 2 }, .build_id = { "02", 2 }, .address = 0x1f },
	};
	AUTO_ARENA arena = { 0 };
	struct sample_set row;
	struct merge merge;
	struct flame flame;
	const struct query_stats stats = { 0 };
	struct report_input input = { .merge = &merge,
				      .type = STR(PROFILE_TYPE_CPU),
				      .columns = REPORT_COLUMNS_DEFAULT,
				      .stats = &stats };
	str body;

	(void)state;
	begin_row(&row, &arena);
	for (size_t i = 0; i < ARRAY_LEN(frames); i++)
		add_stack(&row, &frames[i], 1, 1);
	merge_row(&merge, &row, &arena);
	assert_true(build(&merge, &arena, &flame));
	assert_int_equal(flame.nodes.len, 3);

	assert_true(flame_report_write(&input, &arena, &body, &err));
	assert_data_is(body,
		       "{\"unit\":\"nanoseconds\",\"total\":4,"
		       "\"names\":[\"\",\"a+0x1f\",\"a\",\"01\",\"0x1f\",\"02\",\"f\"],\"nodes\":{"
		       "\"parent\":[-1,-1,-1],\"name\":[1,1,6],\"binary\":[2,2,2],\"file\":[0,0,0],"
		       "\"build_id\":[3,5,0],\"address\":[4,4,0],\"reason\":[0,0,0],"
		       "\"reason_code\":[0,0,0],\"self\":[1,1,2],\"total\":[1,1,2]}}");
	assert_true(table_report_write(&input, &arena, &body, &err));
	assert_data_is(
		body, "{\"unit\":\"nanoseconds\",\"total\":4,\"rows\":["
		      "{\"function\":\"f\",\"binary\":\"a\",\"file\":\"\",\"self\":2,\"total\":2},"
		      "{\"function\":\"a+0x1f\",\"binary\":\"a\",\"file\":\"\",\"build_id\":\"01\","
		      "\"address\":\"0x1f\",\"self\":1,\"total\":1},"
		      "{\"function\":\"a+0x1f\",\"binary\":\"a\",\"file\":\"\",\"build_id\":\"02\","
		      "\"address\":\"0x1f\",\"self\":1,\"total\":1}]}");
}

static void the_columns_are_those_of_the_request_and_builds_are_lists(void **state)
{
	static const struct frame frames[] = {
		{ .function = { "f", 1 }, .path = { "/1/a", 4 }, .build_id = { "01", 2 } },
		{ .function = { "f", 1 }, .path = { "/2/a", 4 }, .build_id = { "02", 2 } },
	};
	AUTO_ARENA arena = { 0 };
	struct sample_set row;
	struct merge merge;
	const struct query_stats stats = { 0 };
	struct report_input input = { .merge = &merge,
				      .type = STR(PROFILE_TYPE_CPU),
				      .columns = 1U << COLUMN_NAME | 1U << COLUMN_BUILDS,
				      .stats = &stats };
	str body;

	(void)state;
	begin_row(&row, &arena);
	for (size_t i = 0; i < ARRAY_LEN(frames); i++)
		add_stack(&row, &frames[i], 1, 1);
	merge_row(&merge, &row, &arena);

	assert_true(flame_report_write(&input, &arena, &body, &err));
	assert_data_is(body, "{\"unit\":\"nanoseconds\",\"total\":2,"
			     "\"names\":[\"\",\"f\",\"/1/a\",\"01\",\"/2/a\",\"02\"],"
			     "\"builds\":[[],[[2,3],[4,5]]],\"builds_left_out\":0,\"nodes\":{"
			     "\"parent\":[-1],\"name\":[1],\"builds\":[1],"
			     "\"self\":[2],\"total\":[2]}}");
	assert_true(table_report_write(&input, &arena, &body, &err));
	assert_data_is(body, "{\"unit\":\"nanoseconds\",\"total\":2,\"rows\":["
			     "{\"function\":\"f\",\"builds\":[[\"/1/a\",\"01\"],"
			     "[\"/2/a\",\"02\"]],\"self\":2,\"total\":2}],"
			     "\"builds_left_out\":0}");
}

static void a_frame_without_a_file_or_a_build_id_has_a_reason(void **state)
{
	static const struct frame frames[] = {
		{ .address = 0x7f00 },
		{ .path = { "/a", 2 }, .address = 0x1f },
		{ .type = { FRAME_TYPE_TRUNCATED, sizeof(FRAME_TYPE_TRUNCATED) - 1 },
		  .function = { "[truncated: user_no_row]", 24 } },
	};
	static const char *const expected[][3] = {
		{ "[truncated: user_no_row]", "", "" },
		{ "[unknown]+0x7f00", "no_file",
		  "the address is in no file: generated code, or an unknown mapping" },
		{ "a+0x1f", "no_build_id",
		  "the file has no build id, so no debug file can be matched to it" },
	};
	AUTO_ARENA arena = { 0 };
	struct sample_set row;
	struct merge merge;
	struct flame flame;

	(void)state;
	begin_row(&row, &arena);
	for (size_t i = 0; i < ARRAY_LEN(frames); i++)
		add_stack(&row, &frames[i], 1, 1);
	merge_row(&merge, &row, &arena);
	assert_true(build(&merge, &arena, &flame));
	assert_int_equal(flame.nodes.len, ARRAY_LEN(expected));
	for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
		const struct flame_symbol *symbol =
			&flame.symbols->items[flame.nodes.items[i].symbol];

		assert_true(str_eq(symbol->name, str_from(expected[i][0])));
		assert_true(str_eq(symbol->reason_code, str_from(expected[i][1])));
		assert_true(str_eq(symbol->reason, str_from(expected[i][2])));
	}
}

static void an_empty_merge_is_an_empty_tree_and_no_rows(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct flame_table table;
	struct merge merge;
	struct flame flame;

	(void)state;
	merge_init(&merge, STR(PROFILE_TYPE_CPU), &ungrouped, 1 << 26, &arena);
	assert_true(build(&merge, &arena, &flame));
	assert_true(build_table(&merge, &arena, &table));
	assert_int_equal(flame.nodes.len, 0);
	assert_int_equal(table.rows.len, 0);
	assert_true(flame.total == 0 && table.total == 0);
}

static void sums_beyond_64_bits_are_an_error(void **state)
{
	static const struct frame a = { .function = { "a", 1 } }, b = { .function = { "b", 1 } };
	AUTO_ARENA arena = { 0 };
	struct flame_table table;
	struct sample_set row;
	struct merge merge;
	struct flame flame;

	(void)state;
	begin_row(&row, &arena);
	add_stack(&row, &a, 1, INT64_MAX);
	add_stack(&row, &b, 1, 1);
	merge_row(&merge, &row, &arena);
	assert_false(build(&merge, &arena, &flame));
	assert_int_equal(err.code, ERR_LIMIT);
	assert_false(build_table(&merge, &arena, &table));
	assert_int_equal(err.code, ERR_LIMIT);
}

static void every_report_counts_as_memory_of_the_response(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct merge merge;
	const struct query_stats stats = { 0 };
	struct report_input input = { .merge = &merge,
				      .type = STR(PROFILE_TYPE_CPU),
				      .columns = REPORT_COLUMNS_DEFAULT,
				      .stats = &stats };

	(void)state;
	merge_random(&merge, 39, &ungrouped, &arena);
	/* Every limit that is too small is an error, wherever the memory runs out. */
	for (size_t i = 0; i < REPORT_COUNT; i++) {
		bool written = false;
		int rejected = 0;

		for (size_t more = 0; !written; more += 16 << 10) {
			AUTO_ARENA of_report = { 0 };
			str body;

			merge.memory_max = arena.size + more;
			written = report_write(&reports[i], &input, &of_report, &body, &err);
			if (!written) {
				assert_int_equal(err.code, ERR_LIMIT);
				rejected++;
			}
		}
		if (rejected < 4)
			fail_msg("%s was rejected %d times", reports[i].name, rejected);
	}
}

RUN_TESTS(TEST(every_tree_is_in_preorder_and_its_sums_hold),
	  TEST(every_table_has_the_sums_of_each_function),
	  TEST(a_function_that_calls_itself_counts_once_in_a_stack),
	  TEST(a_function_is_one_node_in_all_builds_and_an_address_is_not),
	  TEST(the_columns_are_those_of_the_request_and_builds_are_lists),
	  TEST(a_frame_without_a_file_or_a_build_id_has_a_reason),
	  TEST(an_empty_merge_is_an_empty_tree_and_no_rows), TEST(sums_beyond_64_bits_are_an_error),
	  TEST(every_report_counts_as_memory_of_the_response))
