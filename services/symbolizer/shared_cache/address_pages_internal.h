// SPDX-License-Identifier: Apache-2.0
/*
 * address_pages - groups addresses by their 4 KiB page. One thread. No function fails.
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
	const uint64_t *addresses; /* borrowed */
	size_t *indexes;           /* sorted by address; in the arena */
	size_t left;
};

struct address_page {
	uint64_t number;
	const size_t *indexes; /* into the addresses */
	size_t count;
};

struct address_pages address_pages_of(const uint64_t *addresses, size_t count, struct arena *arena);

/* False: there are no more pages. */
bool address_pages_next(struct address_pages *pages, struct address_page *ret_page);
