// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_type.h"
#include "querier/report/unnamed.h"
#include "support/test.h"

static const struct frame frames[] = {
	{ .function = { "main", 4 }, .path = { "/usr/bin/shop", 13 } },
	{ .path = { "/usr/bin/shop", 13 }, .build_id = { "aa", 2 }, .address = 1 },
	{ .path = { "/lib/libx.so.1.2", 16 }, .build_id = { "bb", 2 }, .address = 2 },
	{ .path = { "/opt/libx.so.2", 14 }, .build_id = { "cc", 2 }, .address = 2 },
	{ .path = { "/usr/bin/old", 12 }, .address = 3 },
	{ .address = 0x7f0012345678 }, /* generated code */
};
static const uint8_t reasons[] = { NAME_KNOWN,         NAME_NO_SYMBOL, NAME_NO_DEBUG_INFO,
				   NAME_NO_DEBUG_INFO, NAME_KNOWN,     NAME_KNOWN };
enum { MAIN, SHOP, LIBX_1, LIBX_2, OLD, GENERATED };

struct row {
	const char *exe;
	uint32_t leaf;
	int64_t value;
};

/* Each stack is main() and a leaf. */
static void merge_make(struct merge *merge, const struct row *rows, size_t count,
		       uint64_t memory_max, struct arena *arena)
{
	static const struct group_by by = { .names = { { "exe", 3 } }, .len = 1 };
	struct sample_set set;
	struct err err;

	sample_set_init(&set, arena);
	sample_set_series(&set, STR(PROFILE_TYPE_CPU), (struct labels){ 0 }, 0);
	for (size_t i = 0; i < ARRAY_LEN(frames); i++)
		assert_int_equal(sample_set_frame(&set, &frames[i]), i);
	for (size_t i = 0; i < count; i++) {
		const uint32_t stack[] = { MAIN, rows[i].leaf };
		struct label *exe = arena_new(arena, struct label); /* the set borrows it */

		*exe = (struct label){ .name = STR("exe"), .value = str_from(rows[i].exe) };
		sample_set_add(&set, (struct sample){ .labels = sample_set_labels(
							      &set, (struct labels){ exe, 1 }),
						      .stack = sample_set_stack(&set, stack, 2),
						      .value = rows[i].value });
	}
	sample_set_add(&set, (struct sample){ .value = 1 }); /* without a stack */
	merge_init(merge, STR(PROFILE_TYPE_CPU), &by, 1 << 26, arena);
	assert_true(merge_add_row(merge, &set, &err));
	merge->memory_max = memory_max;
}

static uint8_t *reasons_of(const struct merge *merge, struct arena *arena)
{
	uint8_t *found = arena_array(arena, uint8_t, merge->set.frames.len);

	for (size_t i = 0; i < merge->set.frames.len; i++)
		for (size_t j = 0; j < ARRAY_LEN(frames); j++)
			if (str_eq(frames[j].path, merge->set.frames.items[i].path) &&
			    str_eq(frames[j].function, merge->set.frames.items[i].function))
				found[i] = reasons[j];
	return found;
}

static void assert_row(const struct unnamed *unnamed, size_t at, const char *binary,
		       enum name_reason reason, int64_t value)
{
	assert_true(at < unnamed->rows.len);

	const struct unnamed_row *row = &unnamed->rows.items[at];

	assert_true(str_eq(row->binary, str_from(binary)));
	assert_int_equal(row->reason, reason);
	assert_int_equal(row->value, value);
}

static void sums_leaves_by_binary_and_reason(void **state)
{
	static const struct row rows[] = {
		{ "/usr/bin/shop", MAIN, 100 },
		{ "/usr/bin/shop", SHOP, 7 },
		{ "/usr/bin/shop", LIBX_1, 20 },
		{ "/usr/bin/shop", LIBX_2, 3 },
		{ "/usr/bin/old", OLD, 4 },
		{ "/usr/bin/java", GENERATED, 40 },
		{ "/opt/jdk/bin/java", GENERATED, 2 },
		{ "/usr/bin/node", GENERATED, 5 },
		{ "", GENERATED, 1 },
	};
	AUTO_ARENA arena = { 0 };
	struct unnamed unnamed;
	struct merge merge;
	struct err err;

	(void)state;
	merge_make(&merge, rows, ARRAY_LEN(rows), 1 << 26, &arena);
	merge.reasons = reasons_of(&merge, &arena);
	assert_true(unnamed_find(&merge, &arena, &unnamed, &err));
	assert_int_equal(unnamed.total, 183);
	assert_int_equal(unnamed.value, 82);
	assert_int_equal(unnamed.rows.len, 6);
	assert_row(&unnamed, 0, "java", NAME_NO_FILE, 42);
	assert_int_equal(unnamed.rows.items[1].value, 23);
	assert_true(str_starts_with(unnamed.rows.items[1].binary, STR("libx.so.")));
	assert_row(&unnamed, 2, "shop", NAME_NO_SYMBOL, 7);
	assert_row(&unnamed, 3, "node", NAME_NO_FILE, 5);
	assert_row(&unnamed, 4, "old", NAME_NO_BUILD_ID, 4);
	assert_row(&unnamed, 5, "", NAME_NO_FILE, 1);
}

static void without_a_symbolizer_all_native_code_is_unnamed(void **state)
{
	static const struct row rows[] = { { "/usr/bin/shop", SHOP, 7 } };
	AUTO_ARENA arena = { 0 };
	struct unnamed unnamed;
	struct merge merge;
	struct err err;

	(void)state;
	merge_make(&merge, rows, ARRAY_LEN(rows), 1 << 26, &arena);
	assert_true(unnamed_find(&merge, &arena, &unnamed, &err));
	assert_row(&unnamed, 0, "shop", NAME_KNOWN, 7);
}

static void a_profile_with_all_names_has_no_rows(void **state)
{
	static const struct row rows[] = { { "/usr/bin/shop", MAIN, 7 } };
	AUTO_ARENA arena = { 0 };
	struct unnamed unnamed;
	struct merge merge;
	struct err err;

	(void)state;
	merge_make(&merge, rows, ARRAY_LEN(rows), 1 << 26, &arena);
	assert_true(unnamed_find(&merge, &arena, &unnamed, &err));
	assert_int_equal(unnamed.rows.len, 0);
	assert_int_equal(unnamed.value, 0);
}

static void is_bounded(void **state)
{
	static const struct row rows[] = { { "/usr/bin/shop", SHOP, 7 } };
	static const struct row great[] = { { "/a", SHOP, INT64_MAX }, { "/b", SHOP, 1 } };
	AUTO_ARENA arena = { 0 };
	struct unnamed unnamed;
	struct merge merge;
	struct err err = { 0 };

	(void)state;
	merge_make(&merge, rows, ARRAY_LEN(rows), 1, &arena);
	assert_false(unnamed_find(&merge, &arena, &unnamed, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	merge_make(&merge, great, ARRAY_LEN(great), 1 << 26, &arena);
	assert_false(unnamed_find(&merge, &arena, &unnamed, &err));
	assert_int_equal(err.code, ERR_LIMIT);
}

static void each_reason_has_a_remedy(void **state)
{
	(void)state;
	for (enum name_reason reason = 0; reason < NAME_REASON_COUNT; reason++)
		assert_true(strlen(unnamed_remedies[reason]) > 10);
}

RUN_TESTS(TEST(sums_leaves_by_binary_and_reason),
	  TEST(without_a_symbolizer_all_native_code_is_unnamed),
	  TEST(a_profile_with_all_names_has_no_rows), TEST(is_bounded),
	  TEST(each_reason_has_a_remedy))
