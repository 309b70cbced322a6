// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "debuginfo/debuginfo_limits.h"
#include "debuginfo/misses.h"
#include "support/test.h"

static void a_miss_is_cached_for_its_time(void **state)
{
	struct misses misses;

	(void)state;
	misses_init(&misses);
	assert_int_equal(misses_get(&misses, STR("a")), MISS_NONE);
	misses_put(&misses, STR("a"), MISS_ABSENT, 3600 * NS_PER_SECOND);
	misses_put(&misses, STR("b"), MISS_FAILED, 3600 * NS_PER_SECOND);
	misses_put(&misses, STR("c"), MISS_ABSENT, 0);
	assert_int_equal(misses_get(&misses, STR("a")), MISS_ABSENT);
	assert_int_equal(misses_get(&misses, STR("b")), MISS_FAILED);
	assert_int_equal(misses_get(&misses, STR("c")), MISS_NONE);
	misses_put(&misses, STR("a"), MISS_FAILED, 3600 * NS_PER_SECOND);
	assert_int_equal(misses_get(&misses, STR("a")), MISS_FAILED);
	misses_done(&misses);
	misses_done(&misses);
}

/* Twice as many misses as slots: the newest are cached, and memory does not grow. */
static void newer_misses_overwrite_older_ones(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct misses misses;
	size_t there = 0;

	(void)state;
	misses_init(&misses);
	for (int i = 0; i < 2 * MISSES_MAX; i++) {
		str key = str_format(&arena, "%d", i);

		misses_put(&misses, key, MISS_ABSENT, 3600 * NS_PER_SECOND);
		assert_int_equal(misses_get(&misses, key), MISS_ABSENT);
	}
	for (int i = 0; i < 2 * MISSES_MAX; i++)
		there += misses_get(&misses, str_format(&arena, "%d", i)) == MISS_ABSENT;
	assert_true(there <= MISSES_MAX && there > MISSES_MAX / 2);
	misses_done(&misses);
}

RUN_TESTS(TEST(a_miss_is_cached_for_its_time), TEST(newer_misses_overwrite_older_ones))
