// SPDX-License-Identifier: Apache-2.0
#include "support/unwind_table.h"
#include "unwind/unwind_writer_internal.h"

enum { BASE = 0x401000 };

/* Finds every row at its first and its last address. */
static void assert_finds(const struct unwind_file *file, const struct unwind_rows *rows)
{
	for (size_t i = 0; i < rows->rows.len; i++) {
		const struct unwind_row *row = &rows->rows.items[i];
		uint32_t end = i + 1 < rows->rows.len ? row[1].address : rows->end;
		const struct unwind_rule *expected = &rows->rules.items[row->rule];
		uint64_t places[] = { rows->base + row->address, rows->base + end - 1 };

		for (size_t k = 0; k < ARRAY_LEN(places); k++) {
			struct unwind_rule rule = { 0 };
			bool found = unwind_file_find(file, places[k], &rule);

			assert_int_equal(found, expected->cfa != UNWIND_CFA_NONE);
			if (found)
				assert_memory_equal(&rule, expected, sizeof(rule));
		}

		uint64_t next;

		assert_true(unwind_file_next(file, places[0], &next));
		assert_int_equal(next, rows->base + end);
	}
}

static void round_trip(struct unwind_rows *rows, struct arena *arena, struct unwind_header *ret)
{
	struct unwind_file file = { 0 };
	struct unwind_rule rule;
	uint64_t next;

	assert_true(unwind_table_open(&file, unwind_table_pages(rows, arena)));
	assert_finds(&file, rows);
	assert_int_equal(file.header->base, rows->base + rows->rows.items[0].address);
	assert_int_equal(file.header->row_count, rows->rows.len);
	assert_false(unwind_file_find(&file, file.header->base - 1, &rule));
	assert_false(unwind_file_find(&file, rows->base + rows->end, &rule));
	assert_false(unwind_file_next(&file, rows->base + rows->end, &next));
	assert_true(unwind_file_next(&file, 0, &next));
	assert_int_equal(next, file.header->base);
	*ret = *file.header;
	unwind_file_close(&file);
}

/* count rows at a distance of `step`, with the rules in turn. */
static struct unwind_rows rows_make(struct arena *arena, uint32_t count, uint32_t step,
				    uint32_t rules)
{
	struct unwind_rows rows;

	unwind_rows_init(&rows, arena, BASE);
	unwind_rows_begin(&rows, 16);
	for (uint32_t i = 0; i < count; i++) {
		struct unwind_rule rule = unwind_table_rule((int32_t)(i % rules) + 1);

		unwind_rows_add(&rows, 16 + i * step, &rule);
	}
	unwind_rows_end(&rows, 16 + count * step);
	return rows;
}

static void one_row_is_a_table(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct unwind_rows rows = rows_make(&arena, 1, 1, 1);
	struct unwind_header header;

	(void)state;
	round_trip(&rows, &arena, &header);
	assert_int_equal(header.block_count, 1);
	assert_int_equal(header.rule_count, 1);
	assert_int_equal(header.bytes, 1);
}

static void blocks_end_at_their_limits(void **state)
{
	const struct {
		uint32_t rows, step, blocks;
	} cases[] = {
		{ 256, 4, 1 },     { 257, 4, 2 },  { 2, 65535, 1 }, { 2, 65536, 2 },
		{ 3, 1 << 24, 3 }, { 1350, 4, 6 }, /* of a page: 5 blocks of 770 bytes, one of 244
						    */
		{ 1361, 4, 6 },    { 1362, 4, 7 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_ARENA arena = { 0 };
		struct unwind_rows rows = rows_make(&arena, cases[i].rows, cases[i].step, 2);
		struct unwind_header header;

		round_trip(&rows, &arena, &header);
		assert_int_equal(header.block_count, cases[i].blocks);
		assert_int_equal(header.depth, 1);
	}
}

static void rare_rules_take_two_bytes_where_they_are_and_no_more(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct unwind_rows rows;
	struct unwind_header header;
	uint32_t at = 0;

	(void)state;
	unwind_rows_init(&rows, &arena, BASE);
	unwind_rows_begin(&rows, 0);
	/* 300 rules, the first 256 of them twice; then long runs with a rare rule in between. */
	for (int turn = 0; turn < 2; turn++)
		for (int i = 0; i < (turn ? 256 : 300); i++, at += 2) {
			struct unwind_rule rule = unwind_table_rule(i);

			unwind_rows_add(&rows, at, &rule);
		}
	for (int i = 0; i < 4000; i++, at += 2) {
		struct unwind_rule rule = unwind_table_rule(i % 400 == 0 ? 299 - i / 400 : i % 2);

		unwind_rows_add(&rows, at, &rule);
	}
	unwind_rows_end(&rows, at);
	round_trip(&rows, &arena, &header);
	assert_int_equal(header.rule_count, 300);
	/* With wide blocks only it would be 4 bytes per row. */
	assert_true(header.rules_at - UNWIND_PAGE_BYTES < rows.rows.len * 3 + rows.rows.len / 5);
}

static void many_blocks_need_index_pages(void **state)
{
	const struct {
		uint32_t blocks, depth, roots;
	} cases[] = {
		{ 504, 1, 504 }, { 505, 2, 1 }, { 512, 2, 1 }, { 513, 2, 2 }, { 2000, 2, 4 }
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_ARENA arena = { 0 };
		struct unwind_rows rows = rows_make(&arena, cases[i].blocks, 1 << 17, 3);
		struct unwind_header header;

		round_trip(&rows, &arena, &header);
		assert_int_equal(header.block_count, cases[i].blocks);
		assert_int_equal(header.depth, cases[i].depth);
		assert_int_equal(header.root_count, cases[i].roots);
	}
}

static void a_gap_is_a_row_and_padding_is_not(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct unwind_rows rows;
	struct unwind_rule rule = unwind_table_rule(1);
	struct unwind_header header;

	(void)state;
	unwind_rows_init(&rows, &arena, BASE);
	unwind_rows_begin(&rows, 100);
	unwind_rows_add(&rows, 100, &rule);
	unwind_rows_end(&rows, 110);
	unwind_rows_begin(&rows, 125); /* 15 bytes of padding and the same rule: no new row */
	unwind_rows_add(&rows, 125, &rule);
	unwind_rows_end(&rows, 130);
	unwind_rows_begin(&rows, 146);
	unwind_rows_add(&rows, 146, &rule);
	unwind_rows_end(&rows, 150);
	assert_int_equal(rows.rows.len, 3);
	assert_int_equal(rows.rows.items[1].address, 130);
	assert_int_equal(rows.rows.items[1].rule, UNWIND_RULE_NONE);
	round_trip(&rows, &arena, &header);
}

static void rules_above_the_limit_become_unsupported(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct unwind_rows rows = rows_make(&arena, 5000, 4, 5000);
	struct unwind_header header;

	(void)state;
	assert_int_equal(rows.rules.len, UNWIND_RULES_MAX);
	assert_int_equal(rows.rules.dropped, 5000 - (UNWIND_RULES_MAX - UNWIND_RULE_FIRST));
	round_trip(&rows, &arena, &header);
	assert_true(header.rule_count <= UNWIND_RULES_MAX);
}

static void a_row_takes_little_more_than_three_bytes(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct unwind_rows rows = rows_make(&arena, 100000, 9, 40);
	struct unwind_header header;

	(void)state;
	round_trip(&rows, &arena, &header);
	assert_true(header.page_count * UNWIND_PAGE_BYTES < 100000 * 31 / 10);
}

RUN_TESTS(TEST(one_row_is_a_table), TEST(blocks_end_at_their_limits),
	  TEST(rare_rules_take_two_bytes_where_they_are_and_no_more),
	  TEST(many_blocks_need_index_pages), TEST(a_gap_is_a_row_and_padding_is_not),
	  TEST(rules_above_the_limit_become_unsupported),
	  TEST(a_row_takes_little_more_than_three_bytes))
