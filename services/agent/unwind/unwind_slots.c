// SPDX-License-Identifier: Apache-2.0
#include "agent/unwind/unwind_slots_internal.h"
#include "base/heap.h"

void unwind_slots_init(struct unwind_slots *slots, struct unwind_store *store, uint64_t max_bytes)
{
	*slots =
		(struct unwind_slots){ .store = store, .pages_max = max_bytes / UNWIND_PAGE_BYTES };
}

/* The smallest slot size that holds `bytes`; UNWIND_SLOT_SIZES: larger than a page. */
static size_t size_of(uint32_t bytes)
{
	size_t size = 0;

	while (size < UNWIND_SLOT_SIZES && (uint32_t)UNWIND_SLOT_BYTES_MIN << size < bytes)
		size++;
	return size;
}

static uint16_t all_slots(size_t size)
{
	return (uint16_t)((1U << (UNWIND_PAGE_BYTES / (UNWIND_SLOT_BYTES_MIN << size))) - 1);
}

static uint32_t alloc_pages(struct unwind_slots *slots, uint32_t pages)
{
	uint32_t page = slots->pages + pages <= slots->pages_max
				? unwind_store_alloc(slots->store, pages)
				: 0;

	if (page)
		slots->pages += pages;
	return page;
}

static void release_pages(struct unwind_slots *slots, uint32_t page, uint32_t pages)
{
	unwind_store_release(slots->store, page, pages);
	slots->pages -= pages;
}

/* A page of this slot size with a free slot; NULL: no page can be allocated. */
static struct unwind_slot_page *find_page(struct unwind_slots *slots, size_t size)
{
	struct unwind_slot_pages *pages = &slots->sizes[size];

	for (size_t i = 0; i < pages->len; i++)
		if (pages->items[i].used != all_slots(size))
			return &pages->items[i];

	uint32_t page = alloc_pages(slots, 1);

	if (!page)
		return NULL;
	if (pages->len == pages->cap) {
		pages->cap = pages->cap ? pages->cap * 2 : 16;
		pages->items = heap_resize(pages->items, pages->cap, sizeof(*pages->items));
	}
	pages->items[pages->len] = (struct unwind_slot_page){ .page = page };
	return &pages->items[pages->len++];
}

struct unwind_slot unwind_slots_alloc(struct unwind_slots *slots, uint32_t bytes)
{
	struct unwind_slot none = { 0 };
	size_t size = size_of(bytes);

	if (size == UNWIND_SLOT_SIZES) {
		uint32_t pages = (bytes + UNWIND_PAGE_BYTES - 1) / UNWIND_PAGE_BYTES;
		uint64_t page = alloc_pages(slots, pages);

		return page ? (struct unwind_slot){ page * UNWIND_PAGE_BYTES, bytes } : none;
	}

	struct unwind_slot_page *page = find_page(slots, size);

	if (!page)
		return none;

	unsigned int slot = (unsigned int)__builtin_ctz(~(unsigned int)page->used);

	page->used = (uint16_t)(page->used | 1U << slot);
	return (struct unwind_slot){ (uint64_t)page->page * UNWIND_PAGE_BYTES +
					     (uint64_t)slot *
						     ((uint64_t)UNWIND_SLOT_BYTES_MIN << size),
				     bytes };
}

void unwind_slots_release(struct unwind_slots *slots, struct unwind_slot slot)
{
	struct unwind_slot_list *released = &slots->released;

	if (!slot.place)
		return;
	if (released->len == released->cap) {
		released->cap = released->cap ? released->cap * 2 : 64;
		released->items = heap_resize(released->items, released->cap, sizeof(slot));
	}
	released->items[released->len++] = slot;
}

/* Free a slot, and release its page to the store if no other slot of the page is used. */
static void reclaim(struct unwind_slots *slots, struct unwind_slot slot)
{
	size_t size = size_of(slot.bytes);
	uint32_t page = (uint32_t)(slot.place / UNWIND_PAGE_BYTES);

	if (size == UNWIND_SLOT_SIZES) {
		release_pages(slots, page,
			      (slot.bytes + UNWIND_PAGE_BYTES - 1) / UNWIND_PAGE_BYTES);
		return;
	}

	struct unwind_slot_pages *pages = &slots->sizes[size];
	unsigned int index = (unsigned int)(slot.place % UNWIND_PAGE_BYTES) /
			     ((unsigned int)UNWIND_SLOT_BYTES_MIN << size);
	size_t i = 0;

	while (i < pages->len && pages->items[i].page != page)
		i++;
	if (i == pages->len)
		return;
	pages->items[i].used = (uint16_t)(pages->items[i].used & ~(1U << index));
	if (pages->items[i].used)
		return;
	release_pages(slots, page, 1);
	pages->items[i] = pages->items[--pages->len];
}

bool unwind_slots_is_full(const struct unwind_slots *slots, uint32_t bytes)
{
	return slots->pages + (bytes + UNWIND_PAGE_BYTES - 1) / UNWIND_PAGE_BYTES >
	       slots->pages_max;
}

bool unwind_slots_has_quarantined(const struct unwind_slots *slots)
{
	return slots->released.len || slots->quarantined.len ||
	       unwind_store_has_quarantined(slots->store);
}

void unwind_slots_round(struct unwind_slots *slots)
{
	for (size_t i = 0; i < slots->quarantined.len; i++)
		reclaim(slots, slots->quarantined.items[i]);

	struct unwind_slot_list reclaimed = slots->quarantined;

	slots->quarantined = slots->released;
	slots->released = reclaimed;
	slots->released.len = 0;
}

void unwind_slots_done(struct unwind_slots *slots)
{
	for (size_t i = 0; i < UNWIND_SLOT_SIZES; i++)
		free(slots->sizes[i].items);
	free(slots->released.items);
	free(slots->quarantined.items);
	*slots = (struct unwind_slots){ 0 };
}
