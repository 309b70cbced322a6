// SPDX-License-Identifier: Apache-2.0
/*
 * Reports are found by their names; the error for another name lists them.
 */
#include "querier/report/report.h"
#include "server/metrics/metrics.h"
#include "support/test.h"

static void each_report_is_found_by_its_name(void **state)
{
	(void)state;
	for (size_t i = 0; i < REPORT_COUNT; i++) {
		const struct report *report;
		struct err err;

		assert_true(report_find(str_from(reports[i].name), &report, &err));
		assert_ptr_equal(report, &reports[i]);
		assert_string_equal(report_metrics[0]->values[i], reports[i].name);
	}
}

static void unknown_names_are_rejected_with_the_known_ones(void **state)
{
	static char name[500];
	const struct report *report;
	struct err err;

	(void)state;
	assert_false(report_find((str){ 0 }, &report, &err));
	assert_string_equal(err.msg, "parameter report is missing: one of collapsed, pprof, "
				     "flamegraph, table");
	assert_false(report_find(STR("pie"), &report, &err));
	assert_string_equal(err.msg, "there is no report \"pie\": one of collapsed, pprof, "
				     "flamegraph, table");
	assert_int_equal(err.code, ERR_INVALID);
	memset(name, 'x', sizeof(name));
	assert_false(report_find((str){ name, sizeof(name) }, &report, &err));
	assert_true(strlen(err.msg) < 200);
}

RUN_TESTS(TEST(each_report_is_found_by_its_name),
	  TEST(unknown_names_are_rejected_with_the_known_ones))
