// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_slots - room for lists of mappings, most of them far smaller than a page.
 *
 * Pages are cut into slots of one size each: 256 bytes, 512, ... a page; what is larger has a run
 * of pages. Like pages, slots that were given back rest before they are used again.
 */
#pragma once

#include "unwind_fields.h"
#include "unwind_store.h"

enum { UNWIND_SLOT_BYTES_MIN = 256, UNWIND_SLOT_SIZES = 5 };
_Static_assert(UNWIND_SLOT_BYTES_MIN << (UNWIND_SLOT_SIZES - 1) == UNWIND_PAGE_BYTES,
	       "the largest is a page");

struct unwind_slot_page {
	uint32_t page;
	uint16_t used; /* a bit for each slot */
};

struct unwind_slot_pages {
	struct unwind_slot_page *items;
	size_t len, cap;
};

struct unwind_slot_list {
	struct unwind_slot *items;
	size_t len, cap;
};

struct unwind_slots {
	uint64_t pages; /* held */
	/* private */
	struct unwind_store *store;
	uint64_t pages_max;
	struct unwind_slot_pages sizes[UNWIND_SLOT_SIZES];
	struct unwind_slot_list released, quarantined;
};

void unwind_slots_init(struct unwind_slots *slots, struct unwind_store *store, uint64_t max_bytes);
void unwind_slots_done(struct unwind_slots *slots);

/* A place for so many bytes, in consecutive pages; .place is 0: there is no room. */
struct unwind_slot unwind_slots_alloc(struct unwind_slots *slots, uint32_t bytes);
void unwind_slots_release(struct unwind_slots *slots, struct unwind_slot slot);

/* Whether so many more bytes are beyond what may be held; and whether some wait to be free. */
bool unwind_slots_is_full(const struct unwind_slots *slots, uint32_t bytes);
bool unwind_slots_has_quarantined(const struct unwind_slots *slots);

/* With unwind_store_round(). */
void unwind_slots_round(struct unwind_slots *slots);
