// SPDX-License-Identifier: Apache-2.0
/*
 * pages - addresses by the 4 KiB that they lie in.
 *
 *     struct address_pages pages = address_pages_of(addresses, count, arena);
 *     struct address_page page;
 *     while (address_pages_next(&pages, &page))
 *             for (size_t i = 0; i < page.count; i++)
 *                     addresses[page.indexes[i]] ...
 */
#pragma once

#include "base/str.h"

enum { PAGE_BITS = 12 };

struct address_pages {
	/* private */
	const uint64_t *addresses;
	size_t *indexes; /* sorted by address */
	size_t left;
};

struct address_page {
	uint64_t number;
	const size_t *indexes; /* into the addresses */
	size_t count;
};

struct address_pages address_pages_of(const uint64_t *addresses, size_t count, struct arena *arena);

/* False: there are no more. */
bool address_pages_next(struct address_pages *pages, struct address_page *ret_page);
