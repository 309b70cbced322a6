// SPDX-License-Identifier: Apache-2.0
#include "store/write/seen_ids_internal.h"
#include "support/test.h"

static void has_the_ids_that_were_added(void **state)
{
	struct seen_ids ids;

	(void)state;
	seen_ids_init(&ids, 100);
	for (uint64_t key = 0; key < 100; key++)
		seen_ids_add(&ids, key * 64);
	for (uint64_t key = 0; key < 100; key++)
		assert_true(seen_ids_has(&ids, key * 64));
	assert_false(seen_ids_has(&ids, 7));
	seen_ids_clear(&ids);
	assert_false(seen_ids_has(&ids, 64));
	seen_ids_done(&ids);
}

static void evicts_ids_not_looked_up_and_stays_within_its_capacity(void **state)
{
	struct seen_ids ids;

	(void)state;
	seen_ids_init(&ids, 100);
	seen_ids_add(&ids, 1);
	seen_ids_add(&ids, 1); /* adding it again changes nothing */
	seen_ids_add(&ids, 2);
	for (uint64_t key = 1000; key < 11000; key++) {
		seen_ids_add(&ids, key);
		assert_true(seen_ids_has(&ids, 1));
		assert_true(ids.young.len <= 100);
	}
	assert_false(seen_ids_has(&ids, 2));
	seen_ids_done(&ids);
	seen_ids_done(&ids);
}

RUN_TESTS(TEST(has_the_ids_that_were_added),
	  TEST(evicts_ids_not_looked_up_and_stays_within_its_capacity))
