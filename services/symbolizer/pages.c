// SPDX-License-Identifier: Apache-2.0
#include "pages.h"

static int by_address(const void *a, const void *b, void *self)
{
	const uint64_t *addresses = self;
	uint64_t x = addresses[*(const size_t *)a], y = addresses[*(const size_t *)b];

	return (x > y) - (x < y);
}

struct pages pages_of(const uint64_t *addresses, size_t count, struct arena *arena)
{
	struct pages pages = { .addresses = addresses,
			       .places = arena_array(arena, size_t, count),
			       .left = count };

	for (size_t i = 0; i < count; i++)
		pages.places[i] = i;
	if (count)
		qsort_r(pages.places, count, sizeof(*pages.places), by_address,
			(void *)(uintptr_t)addresses);
	return pages;
}

bool pages_next(struct pages *pages, struct page *ret_page)
{
	if (!pages->left)
		return false;

	struct page page = { .number = pages->addresses[pages->places[0]] >> PAGE_BITS,
			     .places = pages->places };

	while (page.count < pages->left &&
	       pages->addresses[page.places[page.count]] >> PAGE_BITS == page.number)
		page.count++;
	pages->places += page.count;
	pages->left -= page.count;
	*ret_page = page;
	return true;
}
