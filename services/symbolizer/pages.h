// SPDX-License-Identifier: Apache-2.0
/*
 * pages - addresses by the 4 KiB that they lie in.
 *
 *     struct pages pages = pages_of(addresses, count, arena);
 *     struct page page;
 *     while (pages_next(&pages, &page))
 *             for (size_t i = 0; i < page.count; i++)
 *                     addresses[page.places[i]] ...
 */
#pragma once

#include "base/str.h"

enum { PAGE_BITS = 12 };

struct pages {
	/* private */
	const uint64_t *addresses;
	size_t *places; /* sorted by address */
	size_t left;
};

struct page {
	uint64_t number;
	const size_t *places; /* into the addresses */
	size_t count;
};

struct pages pages_of(const uint64_t *addresses, size_t count, struct arena *arena);

/* False: there are no more. */
bool pages_next(struct pages *pages, struct page *ret_page);
