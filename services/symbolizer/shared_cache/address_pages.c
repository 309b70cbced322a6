// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/shared_cache/address_pages_internal.h"

static int by_address(const void *a, const void *b, void *self)
{
	const uint64_t *addresses = self;
	uint64_t x = addresses[*(const size_t *)a], y = addresses[*(const size_t *)b];

	return (x > y) - (x < y);
}

struct address_pages address_pages_of(const uint64_t *addresses, size_t count, struct arena *arena)
{
	struct address_pages pages = { .addresses = addresses,
				       .indexes = arena_array(arena, size_t, count),
				       .left = count };

	for (size_t i = 0; i < count; i++)
		pages.indexes[i] = i;
	if (count)
		qsort_r(pages.indexes, count, sizeof(*pages.indexes), by_address,
			(void *)(uintptr_t)addresses);
	return pages;
}

bool address_pages_next(struct address_pages *pages, struct address_page *ret_page)
{
	if (!pages->left)
		return false;

	struct address_page page = { .number = pages->addresses[pages->indexes[0]] >> PAGE_BITS,
				     .indexes = pages->indexes };

	while (page.count < pages->left &&
	       pages->addresses[page.indexes[page.count]] >> PAGE_BITS == page.number)
		page.count++;
	pages->indexes += page.count;
	pages->left -= page.count;
	*ret_page = page;
	return true;
}
