// SPDX-License-Identifier: Apache-2.0
#include "agent/unwind/unwind_store_internal.h"
#include "support/fake_unwind_memory.h"
#include "support/test.h"

#include <errno.h>
#include <sys/mman.h>

static struct fake_unwind_memory fake;
static struct unwind_store store;

static void begin(uint64_t segments)
{
	struct unwind_memory memory = fake_unwind_memory(&fake);

	unwind_store_init(&store, &memory, segments * FAKE_SEGMENT_BYTES);
}

static void end(void)
{
	unwind_store_done(&store);
	assert_int_equal(fake.segment_count, 0);
	assert_int_equal(fake.mapped, 0);
}

static void rounds(int n)
{
	while (n--)
		unwind_store_round(&store);
}

static void page_0_is_never_allocated(void **state)
{
	(void)state;
	begin(1);
	for (uint32_t i = 1; i < UNWIND_SEGMENT_PAGES; i++)
		assert_int_equal(unwind_store_alloc(&store, 1), i);
	assert_int_equal(unwind_store_alloc(&store, 1), 0);
	assert_int_equal(store.pages_used, 63);
	end();
}

static void a_run_crosses_segments(void **state)
{
	uint8_t *page;

	(void)state;
	begin(3);

	uint32_t first = unwind_store_alloc(&store, 150);

	assert_int_not_equal(first, 0);
	assert_int_equal(fake.segment_count, 3);
	for (uint32_t i = 0; i < 150; i++) {
		page = unwind_store_page(&store, first + i);
		assert_non_null(page);
		memset(page, (int)i, UNWIND_PAGE_BYTES);
	}
	for (uint32_t i = 0; i < 150; i++) {
		page = unwind_store_page(&store, first + i);
		assert_int_equal(page[0], i);
		assert_int_equal(page[UNWIND_PAGE_BYTES - 1], i);
	}
	end();
}

static void no_more_than_the_limit_is_allocated(void **state)
{
	(void)state;
	begin(2);
	assert_int_equal(unwind_store_alloc(&store, 129), 0);
	assert_false(unwind_store_can_ever_fit(&store, 129));
	assert_true(unwind_store_can_ever_fit(&store, 128));
	assert_int_equal(fake.segment_count, 0);
	assert_int_not_equal(unwind_store_alloc(&store, 100), 0);
	assert_int_equal(unwind_store_alloc(&store, 29), 0);
	assert_int_not_equal(unwind_store_alloc(&store, 28), 0);
	assert_int_equal(unwind_store_alloc(&store, 1), 0);
	assert_int_equal(fake.segment_count, 2);
	end();
}

static void released_pages_are_quarantined_a_whole_round(void **state)
{
	(void)state;
	begin(1);

	uint32_t first = unwind_store_alloc(&store, 64);

	assert_int_not_equal(first, 0);
	unwind_store_release(&store, first, 64);
	assert_int_equal(unwind_store_alloc(&store, 1), 0);
	rounds(1);
	assert_int_equal(unwind_store_alloc(&store, 1), 0);
	rounds(1);
	assert_int_equal(unwind_store_alloc(&store, 1), 1);
	end();
}

static void a_segment_without_pages_in_use_is_dropped(void **state)
{
	(void)state;
	begin(5);

	uint32_t small = unwind_store_alloc(&store, 10), large = unwind_store_alloc(&store, 200);

	assert_int_equal(fake.segment_count, 5);
	unwind_store_release(&store, large, 200);
	rounds(2);
	assert_int_equal(fake.segment_count, 1);
	assert_int_equal(store.segments, 1);
	unwind_store_release(&store, small, 10);
	rounds(2);
	assert_int_equal(fake.segment_count, 0);
	assert_int_equal(store.pages_used, 0);
	end();
}

static void gaps_are_filled_before_segments_are_added(void **state)
{
	(void)state;
	begin(8);

	uint32_t a = unwind_store_alloc(&store, 20), b = unwind_store_alloc(&store, 20);

	assert_int_not_equal(unwind_store_alloc(&store, 100), 0);
	unwind_store_release(&store, b, 20);
	rounds(2);
	assert_int_equal(fake.segment_count, 3);
	assert_int_equal(unwind_store_alloc(&store, 15), b);
	assert_int_equal(unwind_store_alloc(&store, 5), b + 15);
	assert_int_equal(unwind_store_alloc(&store, 28), 2 * UNWIND_SEGMENT_PAGES + 36);
	assert_int_equal(fake.segment_count, 3);
	assert_int_equal(a, 1);
	end();
}

static void a_large_run_replaces_another_despite_small_runs_between(void **state)
{
	uint32_t large[3];

	(void)state;
	begin(16);
	for (size_t i = 0; i < ARRAY_LEN(large); i++) {
		large[i] = unwind_store_alloc(&store, 300);
		assert_int_not_equal(large[i], 0);
		for (int n = 0; n < 10; n++)
			assert_int_not_equal(unwind_store_alloc(&store, 3), 0);
	}
	assert_int_equal(unwind_store_alloc(&store, 300), 0);
	unwind_store_release(&store, large[1], 300);
	rounds(2);
	assert_int_not_equal(unwind_store_alloc(&store, 256), 0);
	end();
}

static void without_memory_nothing_is_allocated_or_kept(void **state)
{
	(void)state;
	begin(8);
	fake.fails = true;
	assert_int_equal(unwind_store_alloc(&store, 5), 0);
	assert_int_equal(store.failures, 1);
	assert_int_equal(store.pages_used, 0);
	fake.fails = false;
	assert_int_equal(unwind_store_alloc(&store, 5), 1);
	end();
}

static void few_segments_are_mapped_at_a_time_and_fewer_between_rounds(void **state)
{
	(void)state;
	begin(32);

	uint32_t first = unwind_store_alloc(&store, 20 * UNWIND_SEGMENT_PAGES);

	for (uint32_t i = 0; i < 20; i++)
		assert_non_null(unwind_store_page(&store, first + i * UNWIND_SEGMENT_PAGES));
	assert_int_equal(fake.most_mapped, UNWIND_MAPPED_MAX);
	unwind_store_unmap_idle(&store);
	assert_int_equal(fake.mapped, UNWIND_MAPPED_KEPT);
	unwind_store_unmap_idle(&store); /* they were not used since */
	assert_int_equal(fake.mapped, 0);
	assert_null(unwind_store_page(&store, 31 * UNWIND_SEGMENT_PAGES));
	assert_null(unwind_store_page(&store, UINT64_MAX));
	end();
}

static void a_table_is_read_into_its_run(void **state)
{
	uint8_t bytes[UNWIND_PAGE_BYTES];
	struct err err;
	AUTO_FD fd = memfd_create("table", MFD_CLOEXEC);

	(void)state;
	begin(3);
	assert_int_equal(unwind_store_alloc(&store, 30), 1);
	assert_int_equal(write(fd, "head", 4), 4);
	for (int i = 0; i < 100; i++) {
		memset(bytes, i, sizeof(bytes));
		assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	}
	uint32_t first = unwind_store_alloc(&store, 100);

	assert_int_not_equal(first, 0);

	assert_true(unwind_store_read(&store, first, 100, fd, 4, &err));
	for (uint32_t i = 0; i < 100; i++) {
		const uint8_t *page = fake_at(&fake, (uint64_t)(first + i) * UNWIND_PAGE_BYTES);

		assert_non_null(page);
		memset(bytes, (int)i, sizeof(bytes));
		assert_memory_equal(page, bytes, sizeof(bytes));
	}
	errno = ENOENT;                                                   /* of an earlier call */
	assert_false(unwind_store_read(&store, first, 100, fd, 5, &err)); /* it is too short */
	assert_string_equal(err.msg, "a table ends 1 bytes early");
	end();
}

RUN_TESTS(TEST(page_0_is_never_allocated), TEST(a_run_crosses_segments),
	  TEST(no_more_than_the_limit_is_allocated),
	  TEST(released_pages_are_quarantined_a_whole_round),
	  TEST(a_segment_without_pages_in_use_is_dropped),
	  TEST(gaps_are_filled_before_segments_are_added),
	  TEST(a_large_run_replaces_another_despite_small_runs_between),
	  TEST(without_memory_nothing_is_allocated_or_kept),
	  TEST(few_segments_are_mapped_at_a_time_and_fewer_between_rounds),
	  TEST(a_table_is_read_into_its_run))
