// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "ingester/consume/progress_internal.h"
#include "support/test.h"

#define SECOND NS_PER_SECOND

static void no_progress_is_a_stall(void **state)
{
	struct progress progress = { 0 };

	(void)state;
	progress_made(&progress, 100 * SECOND);
	assert_false(progress_is_stalled(&progress, 160 * SECOND, 60000));
	assert_true(progress_is_stalled(&progress, 160 * SECOND + 1, 60000));
	progress_made(&progress, 170 * SECOND);
	assert_false(progress_is_stalled(&progress, 200 * SECOND, 60000));
}

RUN_TESTS(TEST(no_progress_is_a_stall))
