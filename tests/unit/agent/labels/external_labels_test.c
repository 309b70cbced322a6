// SPDX-License-Identifier: Apache-2.0
#include "agent/labels/external_labels.h"
#include "support/test.h"

static void accepts_either_separator_and_sorts(void **state)
{
	static const char *const texts[] = { "zone=a,rack=7", "rack=7;zone=a",
					     " zone=a ; rack=7 ;" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		AUTO_ARENA arena = { 0 };
		struct labels labels;
		struct err err = { 0 };

		assert_true(external_labels_parse(str_from(texts[i]), &arena, &labels, &err));
		assert_int_equal(labels.len, 2);
		assert_true(str_eq(labels_get(labels, STR("rack")), STR("7")));
		assert_true(str_eq(labels_get(labels, STR("zone")), STR("a")));
	}
}

static void accepts_no_labels_and_values_with_equal_signs(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct labels labels;
	struct err err = { 0 };

	(void)state;
	assert_true(external_labels_parse(STR(""), &arena, &labels, &err));
	assert_int_equal(labels.len, 0);
	assert_true(external_labels_parse(STR("a=b=c"), &arena, &labels, &err));
	assert_true(str_eq(labels_get(labels, STR("a")), STR("b=c")));
}

static void names_the_malformed_label(void **state)
{
	static const struct {
		const char *text, *named;
	} rows[] = {
		{ "zone", "\"zone\"" }, { "a=b,=c", "\"=c\"" },           { "a=", "\"a\"" },
		{ "1a=b", "\"1a=b\"" }, { "a.b=c", "\"a.b=c\"" },         { "comm=x", "\"comm\"" },
		{ "a=\xff", "\"a\"" },  { "__type__=x", "\"__type__\"" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_ARENA arena = { 0 };
		struct labels labels;
		struct err err = { 0 };

		assert_false(external_labels_parse(str_from(rows[i].text), &arena, &labels, &err));
		assert_int_equal(err.code, ERR_INVALID);
		assert_true(str_find(str_from(err.msg), str_from(rows[i].named)) != SIZE_MAX);
	}
}

RUN_TESTS(TEST(accepts_either_separator_and_sorts),
	  TEST(accepts_no_labels_and_values_with_equal_signs), TEST(names_the_malformed_label))
