#include "chassis/json_read.h"
#include "test.h"

static void reads_the_texts_of_a_list(void **state)
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

static void says_what_is_wrong(void **state)
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

RUN_TESTS(TEST(reads_the_texts_of_a_list), TEST(says_what_is_wrong))
