// SPDX-License-Identifier: Apache-2.0
#include "querier/report/report_columns.h"
#include "support/test.h"

static void a_list_of_names_is_a_set_and_no_list_is_the_default(void **state)
{
	report_columns columns = 0;
	struct err err;

	(void)state;
	assert_true(report_columns_parse((str){ 0 }, &columns, &err));
	assert_int_equal(columns, REPORT_COLUMNS_DEFAULT);
	assert_false(report_columns_has(columns, COLUMN_BUILDS));
	assert_true(report_columns_has(columns, COLUMN_REASON_CODE));
	assert_true(report_columns_parse(STR("name, builds"), &columns, &err));
	assert_int_equal(columns, 1U << COLUMN_NAME | 1U << COLUMN_BUILDS);
}

static void a_name_that_is_unknown_empty_or_repeated_is_rejected(void **state)
{
	static const char *const cases[][2] = {
		{ "pids", "columns: \"pids\" is none of name, binary, file, build_id, address, "
			  "reason, reason_code, builds" },
		{ "name,", "columns: \"\" is none of name, binary, file, build_id, address, "
			   "reason, reason_code, builds" },
		{ "file,name,file", "columns names file twice" },
	};
	report_columns columns = 7;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_false(report_columns_parse(str_from(cases[i][0]), &columns, &err));
		assert_int_equal(err.code, ERR_INVALID);
		assert_string_equal(err.msg, cases[i][1]);
		assert_int_equal(columns, 7);
	}
}

RUN_TESTS(TEST(a_list_of_names_is_a_set_and_no_list_is_the_default),
	  TEST(a_name_that_is_unknown_empty_or_repeated_is_rejected))
