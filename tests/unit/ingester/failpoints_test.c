// SPDX-License-Identifier: Apache-2.0
#include "ingester/failpoints.h"
#include "support/test.h"

/* The table joins the failpoints of two libraries and of the ingester. */
static void each_has_a_unique_name_and_a_description(void **state)
{
	struct failpoint *const *points = ingester_failpoints.points;

	(void)state;
	assert_true(ingester_failpoints.count > 1);
	for (size_t i = 0; i < ingester_failpoints.count; i++) {
		assert_non_null(points[i]->where);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(points[i]->name, points[j]->name);
	}
}

RUN_TESTS(TEST(each_has_a_unique_name_and_a_description))
