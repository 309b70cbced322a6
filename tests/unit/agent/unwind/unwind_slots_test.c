// SPDX-License-Identifier: Apache-2.0
#include "agent/unwind/unwind_slots_internal.h"
#include "support/fake_unwind_memory.h"
#include "support/test.h"

static struct fake_unwind_memory fake;
static struct unwind_store store;
static struct unwind_slots slots;

static int begin(void **state)
{
	struct unwind_memory memory = fake_unwind_memory(&fake);

	(void)state;
	unwind_store_init(&store, &memory, 4 * FAKE_SEGMENT_BYTES);
	unwind_slots_init(&slots, &store, 2 * FAKE_SEGMENT_BYTES);
	return 0;
}

static int end(void **state)
{
	(void)state;
	unwind_slots_done(&slots);
	unwind_store_done(&store);
	return fake.segment_count != 0;
}

static void rounds(int n)
{
	while (n--) {
		unwind_store_round(&store);
		unwind_slots_round(&slots);
	}
}

static void small_lists_share_a_page_and_none_overlaps(void **state)
{
	static uint8_t seen[UNWIND_PAGE_BYTES];

	(void)state;
	memset(seen, 0, sizeof(seen));
	for (int i = 0; i < 16; i++) {
		struct unwind_slot slot = unwind_slots_alloc(&slots, 200);

		assert_int_equal(slot.place / UNWIND_PAGE_BYTES, 1);
		for (size_t at = 0; at < 200; at++)
			assert_int_equal(seen[slot.place % UNWIND_PAGE_BYTES + at]++, 0);
	}
	assert_int_equal(slots.pages, 1);
	assert_int_equal(unwind_slots_alloc(&slots, 256).place / UNWIND_PAGE_BYTES, 2);
}

static void each_size_has_its_pages(void **state)
{
	static const struct {
		uint32_t bytes, per_page;
	} sizes[] = { { 1, 16 }, { 256, 16 }, { 257, 8 }, { 1024, 4 }, { 2048, 2 }, { 4096, 1 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		uint64_t before = slots.pages;

		for (uint32_t n = 0; n < 32 * sizes[i].per_page; n++)
			unwind_slots_release(&slots, unwind_slots_alloc(&slots, sizes[i].bytes));
		assert_int_equal(slots.pages, before + 32);
		rounds(4);
		assert_int_equal(slots.pages, 0);
	}
}

static void a_long_list_has_consecutive_pages(void **state)
{
	(void)state;

	struct unwind_slot slot = unwind_slots_alloc(&slots, 3 * UNWIND_PAGE_BYTES + 32);

	assert_int_equal(slots.pages, 4);
	assert_int_equal(slot.place % UNWIND_PAGE_BYTES, 0);
	unwind_slots_release(&slots, slot);
	rounds(2);
	assert_int_equal(slots.pages, 0);
}

static void released_slots_are_quarantined_a_whole_round(void **state)
{
	(void)state;

	struct unwind_slot first = unwind_slots_alloc(&slots, 4096);

	unwind_slots_release(&slots, first);
	rounds(1);
	assert_int_not_equal(unwind_slots_alloc(&slots, 4096).place, first.place);

	struct unwind_slot small = unwind_slots_alloc(&slots, 32);

	unwind_slots_alloc(&slots, 32);
	unwind_slots_release(&slots, small);
	rounds(1);
	assert_int_not_equal(unwind_slots_alloc(&slots, 32).place, small.place);
	rounds(1);
	assert_int_equal(unwind_slots_alloc(&slots, 32).place, small.place);
}

static void no_more_than_the_limit_is_allocated(void **state)
{
	int allocated = 0;

	(void)state;
	while (unwind_slots_alloc(&slots, 4096).place)
		allocated++;
	assert_int_equal(allocated, 2 * UNWIND_SEGMENT_PAGES);
	assert_int_equal(unwind_slots_alloc(&slots, 100000).place, 0);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, begin, end)

RUN_TESTS(CASE(small_lists_share_a_page_and_none_overlaps), CASE(each_size_has_its_pages),
	  CASE(a_long_list_has_consecutive_pages),
	  CASE(released_slots_are_quarantined_a_whole_round),
	  CASE(no_more_than_the_limit_is_allocated))
