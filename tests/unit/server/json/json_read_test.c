// SPDX-License-Identifier: Apache-2.0
#include "server/json/json_read.h"
#include "support/test.h"

static void reads_the_strings_of_a_list(void **state)
{
	AUTO_ARENA arena = { 0 };
	str *texts = NULL;
	size_t count = 0;
	struct err err;

	(void)state;
	assert_true(json_read_texts(STR(" {\"x\":[1],\"ids\":[\"a\",\"\",\"\\u00e9\\\"\"]} "),
				    "ids", 3, &arena, &texts, &count, &err));
	assert_int_equal(count, 3);
	assert_true(str_eq(texts[0], STR("a")));
	assert_int_equal(texts[1].len, 0);
	assert_true(str_eq(texts[2], STR("\303\251\"")));
	assert_true(json_read_texts(STR("{\"ids\":[]}"), "ids", 0, &arena, &texts, &count, &err));
	assert_int_equal(count, 0);
}

static void an_error_names_the_fault(void **state)
{
	static const struct {
		const char *text;
		enum err_code code;
	} rows[] = {
		{ "", ERR_INVALID },
		{ "{\"ids\":[\"a\"]", ERR_INVALID },
		{ "{\"ids\":[\"a\"]} x", ERR_INVALID },
		{ "[\"a\"]", ERR_INVALID },
		{ "\"a\"", ERR_INVALID },
		{ "{}", ERR_INVALID },
		{ "{\"ids\":\"a\"}", ERR_INVALID },
		{ "{\"ids\":{\"a\":1}}", ERR_INVALID },
		{ "{\"ids\":[\"a\",null]}", ERR_INVALID },
		{ "{\"ids\":[\"a\\u0000b\"]}", ERR_INVALID },
		{ "{\"ids\":[\"\377\"]}", ERR_INVALID },
		{ "{\"ids\":[],\"ids\":[]}", ERR_INVALID },
		{ "{\"ids\":[\"a\",\"b\",\"c\"]}", ERR_LIMIT },
	};
	AUTO_ARENA arena = { 0 };
	size_t count;
	str *texts;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = { 0 };

		assert_false(json_read_texts(str_from(rows[i].text), "ids", 2, &arena, &texts,
					     &count, &err));
		assert_int_equal(err.code, rows[i].code);
		assert_true(strlen(err.msg) > 5);
	}
}

static void reads_the_numbers_of_an_object_in_an_object(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct json_count *counts = NULL;
	size_t count = 0;
	struct err err;

	(void)state;
	assert_true(json_read_counts(STR("{\"d\":{\"g\":{\"a\":0,\"b\":9007199254740993}}}"), "d",
				     "g", 2, &arena, &counts, &count, &err));
	assert_int_equal(count, 2);
	for (size_t i = 0; i < count; i++)
		assert_true(counts[i].number ==
			    (counts[i].name.ptr[0] == 'a' ? 0 : 9007199254740993u));
	assert_false(json_read_counts(STR("{\"d\":{\"g\":{\"a\":0,\"b\":1}}}"), "d", "g", 1, &arena,
				      &counts, &count, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	assert_false(json_read_counts(STR("{\"d\":{\"g\":{\"a\":-1}}}"), "d", "g", 1, &arena,
				      &counts, &count, &err));
	assert_false(
		json_read_counts(STR("{\"d\":[]}"), "d", "g", 1, &arena, &counts, &count, &err));
	assert_false(json_read_counts(STR("<html>"), "d", "g", 1, &arena, &counts, &count, &err));
}

static void reads_lists_of_numbers_with_a_string(void **state)
{
	static const struct json_numbers_shape shape = {
		.list = "l", .text = "t", .numbers = "n", .list_max = 2, .numbers_max = 3
	};
	static const char *const wrong[] = {
		"{\"l\":[{\"t\":1,\"n\":[]}]}",
		"{\"l\":[{\"t\":\"a\"}]}",
		"{\"l\":[{\"t\":\"a\",\"n\":[-1]}]}",
		"{\"l\":[{\"t\":\"a\",\"n\":[1.5]}]}",
		"{\"l\":[{\"t\":\"a\",\"n\":[18446744073709551616]}]}",
		"{\"l\":[1]}",
		"{\"l\":{}}",
		"[]",
		"{\"l\":[{\"t\":\"a\",\"n\":[1,2,3,4]}]}",
		"{\"l\":[{\"t\":\"\",\"n\":[]},{\"t\":\"\",\"n\":[]},{\"t\":\"\",\"n\":[]}]}",
	};
	AUTO_ARENA arena = { 0 };
	struct json_numbers *lists = NULL;
	size_t count = 0;
	struct err err;

	(void)state;
	assert_true(json_read_numbers(STR("{\"l\":[{\"t\":\"a\",\"n\":[1,9223372036854775807]},"
					  "{\"n\":[],\"t\":\"b\"}]}"),
				      &shape, &arena, &lists, &count, &err));
	assert_int_equal(count, 2);
	assert_true(lists[0].count == 2 && lists[0].numbers[1] == INT64_MAX);
	assert_true(lists[1].count == 0 && str_eq(lists[1].text, STR("b")));
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_false(json_read_numbers(str_from(wrong[i]), &shape, &arena, &lists, &count,
					       &err));
}

RUN_TESTS(TEST(reads_the_strings_of_a_list), TEST(an_error_names_the_fault),
	  TEST(reads_the_numbers_of_an_object_in_an_object),
	  TEST(reads_lists_of_numbers_with_a_string))
