// SPDX-License-Identifier: Apache-2.0
/*
 * Reports are found by their names; the error for another name lists them.
 */
#include "profile/profile_type.h"
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

static bool is_too_late(const void *request, struct err *err)
{
	(void)request;
	return err_set(err, ERR_TIMEOUT, "too late");
}

/* A thousand stacks of one frame. */
static void fill(struct merge *merge)
{
	for (uint64_t i = 0; i < 1000; i++) {
		struct frame frame = { .path = STR("/bin/x"), .address = i };
		uint32_t index = sample_set_frame(&merge->set, &frame);
		struct err err;

		assert_true(merge_add(merge, sample_set_stack(&merge->set, &index, 1),
				      sample_set_labels(&merge->set, (struct labels){ 0 }), 1,
				      &err));
	}
}

static void each_report_ends_at_the_deadline_of_its_request(void **state)
{
	const struct group_by none = { 0 };
	const struct query_stats stats = { 0 };

	(void)state;
	for (size_t i = 0; i < REPORT_COUNT; i++) {
		AUTO_ARENA arena = { 0 };
		struct merge merge;
		const struct report_input input = { .merge = &merge,
						    .type = STR(PROFILE_TYPE_CPU),
						    .columns = REPORT_COLUMNS_DEFAULT,
						    .stats = &stats };
		struct err err = { 0 };
		str body;

		merge_init(&merge, input.type, &none, 1 << 30, &arena);
		fill(&merge);
		assert_true(report_write(&reports[i], &input, &arena, &body, &err));
		merge_set_bounds(&merge, is_too_late, NULL);
		assert_false(report_write(&reports[i], &input, &arena, &body, &err));
		assert_int_equal(err.code, ERR_TIMEOUT);
	}
}

RUN_TESTS(TEST(each_report_is_found_by_its_name),
	  TEST(unknown_names_are_rejected_with_the_known_ones),
	  TEST(each_report_ends_at_the_deadline_of_its_request))
