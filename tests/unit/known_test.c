// SPDX-License-Identifier: Apache-2.0
#include "store/known.h"
#include "test.h"

static void knows_what_was_added(void **state)
{
	struct known known;

	(void)state;
	known_init(&known, 100);
	for (uint64_t key = 0; key < 100; key++)
		known_add(&known, key * 64);
	for (uint64_t key = 0; key < 100; key++)
		assert_true(known_has(&known, key * 64));
	assert_false(known_has(&known, 7));
	known_clear(&known);
	assert_false(known_has(&known, 64));
	known_done(&known);
}

static void forgets_what_was_not_asked_for_and_stays_within_its_bound(void **state)
{
	struct known known;

	(void)state;
	known_init(&known, 100);
	known_add(&known, 1);
	known_add(&known, 1); /* once more is the same */
	known_add(&known, 2);
	for (uint64_t key = 1000; key < 11000; key++) {
		known_add(&known, key);
		assert_true(known_has(&known, 1));
		assert_true(known.young_count <= 100);
	}
	assert_false(known_has(&known, 2));
	known_done(&known);
	known_done(&known);
}

RUN_TESTS(TEST(knows_what_was_added),
	  TEST(forgets_what_was_not_asked_for_and_stays_within_its_bound))
