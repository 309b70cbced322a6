// SPDX-License-Identifier: Apache-2.0
#include "base/base_limits.h"
#include "base/heap.h"
#include "support/test.h"

#include <malloc.h>

static void new_memory_is_zero(void **state)
{
	uint64_t *numbers = heap_array(uint64_t, 1000);

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		assert_true(numbers[i] == 0);
	free(numbers);
}

static void resizing_keeps_the_items(void **state)
{
	uint32_t *items = heap_resize(NULL, 2, sizeof(*items));

	(void)state;
	items[0] = 1;
	items[1] = 2;
	items = heap_resize(items, 100000, sizeof(*items));
	assert_true(items[0] == 1 && items[1] == 2);
	free(items);
}

static void a_copied_text_ends_with_a_nul(void **state)
{
	char *copy = heap_str((str){ "abcdef", 3 }), *empty = heap_str((str){ 0 });

	(void)state;
	assert_string_equal(copy, "abc");
	assert_string_equal(empty, "");
	free(copy);
	free(empty);
}

static void large_blocks_are_returned_to_the_system(void **state)
{
	size_t mapped;
	char *block;

	(void)state;
	heap_return_freed();
	mapped = mallinfo2().hblks;
	block = heap_zeroed(HEAP_MAPPED_BYTES, 1);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
	assert_int_equal(mallinfo2().hblks, mapped + 1);
#endif
	free(block);
	assert_int_equal(mallinfo2().hblks, mapped);
}

RUN_TESTS(TEST(new_memory_is_zero), TEST(resizing_keeps_the_items),
	  TEST(a_copied_text_ends_with_a_nul), TEST(large_blocks_are_returned_to_the_system))
