// SPDX-License-Identifier: Apache-2.0
#include "support/test.h"
#include "symbolizer/shared_cache/cache_value_internal.h"

static const struct symbol_line lines[] = {
	{ .system_name = { "_Z1fi", 5 }, .file = { "/src/a.c", 8 }, .line = 12, .start_line = 10 },
	{ .system_name = { "main", 4 } },
	{ .system_name = { "f", 1 }, .name = { "app::f", 6 } },
	{ .system_name = { "f", 1 } },
};

static void reads_back_what_it_wrote(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct symbolized_location wrote, got;
	struct location_builder builder;

	(void)state;
	location_builder_init(&builder, &arena);
	wrote = location_builder_add(&builder, lines, 4);
	assert_true(cache_value_decode(cache_value_encode(&wrote, &arena), &builder, &got));
	assert_int_equal(got.line_count, 4);
	assert_int_equal(got.reason, NAME_KNOWN);
	assert_true(str_eq(got.lines[0].function, STR("f(int)")));
	assert_true(str_eq(got.lines[0].system_name, STR("_Z1fi")));
	assert_true(str_eq(got.lines[0].file, STR("/src/a.c")));
	assert_true(got.lines[0].line == 12 && got.lines[0].start_line == 10);
	assert_true(got.lines[1].file.len == 0 && got.lines[1].line == 0);
	assert_true(str_eq(got.lines[2].function, STR("app::f")));
	assert_true(str_eq(got.lines[2].system_name, STR("f")));
	assert_true(str_eq(got.lines[3].function, STR("f")));
	wrote = (struct symbolized_location){ .reason = NAME_NO_SYMBOL };
	assert_true(cache_value_decode(cache_value_encode(&wrote, &arena), &builder, &got));
	assert_true(got.line_count == 0 && got.reason == NAME_NO_SYMBOL);
}

static void rejects_a_truncated_too_long_or_other_version_value(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct symbolized_location location, got;
	struct location_builder builder;

	(void)state;
	location_builder_init(&builder, &arena);
	location = location_builder_add(&builder, lines, 2);

	str whole = cache_value_encode(&location, &arena);
	str longer = str_format(&arena, STR_FMT "x", STR_ARG(whole));

	for (size_t len = 0; len < whole.len; len++)
		assert_false(cache_value_decode((str){ whole.ptr, len }, &builder, &got));
	assert_false(cache_value_decode((str){ longer.ptr, whole.len + 1 }, &builder, &got));
	assert_false(cache_value_decode(STR("\x01\x00"), &builder, &got));
	assert_false(cache_value_decode(STR("\x02\x41"), &builder, &got)); /* 65 lines */
	assert_false(cache_value_decode(STR("\x02\x01\x00\x00\x00\x00\x00"), &builder,
					&got)); /* no name */
}

static void beyond_the_limits_of_a_response_there_are_no_names(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct location_builder builder;

	(void)state;
	location_builder_init(&builder, &arena);
	builder.lines_left = 3;
	assert_int_equal(location_builder_add(&builder, lines, 2).reason, NAME_KNOWN);
	assert_int_equal(location_builder_add(&builder, lines, 2).reason, NAME_TOO_LARGE);
	assert_int_equal(location_builder_add(&builder, lines, 1).reason, NAME_KNOWN);
	location_builder_init(&builder, &arena);
	builder.bytes_left = 15; /* of 5 + 6 + 8 */
	assert_int_equal(location_builder_add(&builder, lines, 1).reason, NAME_TOO_LARGE);
}

static void a_system_name_and_its_demangled_name_both_count(void **state)
{
	static const struct symbol_line line = { .system_name = STR("_Z3foov") }; /* foo() */
	AUTO_ARENA arena = { 0 };
	struct location_builder builder;

	(void)state;
	location_builder_init(&builder, &arena);
	builder.bytes_left = 6;
	assert_int_equal(location_builder_add(&builder, &line, 1).reason, NAME_TOO_LARGE);
	location_builder_init(&builder, &arena);
	builder.bytes_left = 7 + 4;
	assert_int_equal(location_builder_add(&builder, &line, 1).reason, NAME_TOO_LARGE);
	location_builder_init(&builder, &arena);
	builder.bytes_left = 7 + 5;
	assert_int_equal(location_builder_add(&builder, &line, 1).reason, NAME_KNOWN);
	assert_int_equal(location_builder_add(&builder, &line, 1).reason,
			 NAME_KNOWN); /* not copied again */
	assert_int_equal(location_builder_add(&builder, &line, 0).reason, NAME_NO_SYMBOL);
}

static void a_table_without_symbols_names_nothing(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct symbol_table table = { 0 };
	struct location_builder builder;

	(void)state;
	location_builder_init(&builder, &arena);
	assert_int_equal(location_builder_lookup(&builder, &table, 1).reason, NAME_NO_SYMBOL);
}

RUN_TESTS(TEST(a_table_without_symbols_names_nothing), TEST(reads_back_what_it_wrote),
	  TEST(rejects_a_truncated_too_long_or_other_version_value),
	  TEST(beyond_the_limits_of_a_response_there_are_no_names),
	  TEST(a_system_name_and_its_demangled_name_both_count))
