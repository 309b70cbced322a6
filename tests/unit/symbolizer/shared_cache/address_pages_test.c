// SPDX-License-Identifier: Apache-2.0
#include "support/test.h"
#include "symbolizer/shared_cache/address_pages_internal.h"

static void groups_addresses_by_page(void **state)
{
	static const uint64_t addresses[] = { 0x1fff, 5, UINT64_MAX, 0x1000, 5, 0xfff };
	AUTO_ARENA arena = { 0 };
	struct address_pages pages = address_pages_of(addresses, ARRAY_LEN(addresses), &arena);
	struct address_page page;
	size_t seen = 0, count = 0;

	(void)state;
	while (address_pages_next(&pages, &page)) {
		count++;
		for (size_t i = 0; i < page.count; i++) {
			assert_true(addresses[page.indexes[i]] >> PAGE_BITS == page.number);
			assert_false(seen & 1u << page.indexes[i]);
			seen |= 1u << page.indexes[i];
		}
	}
	assert_int_equal(count, 3);
	assert_int_equal(seen, (1u << ARRAY_LEN(addresses)) - 1);
	pages = address_pages_of(NULL, 0, &arena);
	assert_false(address_pages_next(&pages, &page));
}

RUN_TESTS(TEST(groups_addresses_by_page))
