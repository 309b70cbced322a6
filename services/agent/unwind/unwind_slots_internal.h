// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_slots - an allocator for lists of mappings, most of which are far smaller than a page.
 *
 * A page is divided into slots of one size: 256 bytes, 512, ... a page. A larger list has a run of
 * pages. Like pages, a released slot is quarantined for a round before it is reused. No function
 * fails with an error. Agent thread only.
 */
#pragma once

#include "agent/process/unwind_fields.h"
#include "agent/unwind/unwind_store_internal.h"

enum { UNWIND_SLOT_BYTES_MIN = 256, UNWIND_SLOT_SIZES = 5 };
_Static_assert(UNWIND_SLOT_BYTES_MIN << (UNWIND_SLOT_SIZES - 1) == UNWIND_PAGE_BYTES,
	       "the largest is a page");

struct unwind_slot_page {
	uint32_t page;
	uint16_t used; /* one bit for each slot */
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
	uint64_t pages; /* allocated */
	/* private */
	struct unwind_store *store;
	uint64_t pages_max;
	struct unwind_slot_pages sizes[UNWIND_SLOT_SIZES];
	struct unwind_slot_list released, quarantined;
};

/* `store` must outlive `slots`. max_bytes: limit of all pages of the slots. */
void unwind_slots_init(struct unwind_slots *slots, struct unwind_store *store, uint64_t max_bytes);

/* Frees the bookkeeping. The pages are freed by unwind_store_done(). */
void unwind_slots_done(struct unwind_slots *slots);

/*
 * Allocates `bytes` in consecutive pages. .place is 0: there is no room. The content is undefined.
 */
struct unwind_slot unwind_slots_alloc(struct unwind_slots *slots, uint32_t bytes);

/* Releases a slot; .place 0 is accepted. */
void unwind_slots_release(struct unwind_slots *slots, struct unwind_slot slot);

/* True if `bytes` more would exceed max_bytes. */
bool unwind_slots_is_full(const struct unwind_slots *slots, uint32_t bytes);

/* True if released slots or pages are not free yet. */
bool unwind_slots_has_quarantined(const struct unwind_slots *slots);

/* Called once per round, after unwind_store_round(): slots that were quarantined for a round become
 * free. */
void unwind_slots_round(struct unwind_slots *slots);
