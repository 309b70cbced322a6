// SPDX-License-Identifier: Apache-2.0
#include "agent/unwind/unwind_store_internal.h"
#include "base/heap.h"

#include <errno.h>

_Static_assert(UNWIND_SEGMENT_PAGES == 64, "a segment's pages are the bits of a word");

enum { SEGMENT_BYTES = UNWIND_SEGMENT_PAGES * UNWIND_PAGE_BYTES };

/*
 * A run of at least this length begins at a new segment; small runs may use only the remainder of
 * its last segment. So its segments are dropped when it is released, and small runs do not fragment
 * the space for large ones.
 */
enum { LARGE_PAGES = UNWIND_SEGMENT_PAGES / 2 };

static bool is_allocated(const struct unwind_store *store, size_t segment)
{
	return store->allocated[segment / 64] >> (segment % 64) & 1;
}

void unwind_store_init(struct unwind_store *store, const struct unwind_memory *memory,
		       uint64_t max_bytes)
{
	uint64_t segments_max = max_bytes / SEGMENT_BYTES;

	*store = (struct unwind_store){ .memory = *memory };
	store->segments_max =
		segments_max < UNWIND_SEGMENTS_MAX ? segments_max : UNWIND_SEGMENTS_MAX;
	store->used = heap_array(uint64_t, UNWIND_SEGMENTS_MAX);
	store->allocated = heap_zeroed(UNWIND_SEGMENTS_MAX / 8, 1);
	store->used[0] = 1; /* page 0 is never allocated */
}

static void push(struct unwind_runs *runs, struct unwind_run run)
{
	if (runs->len == runs->cap) {
		runs->cap = runs->cap ? runs->cap * 2 : 64;
		runs->items = heap_resize(runs->items, runs->cap, sizeof(run));
	}
	runs->items[runs->len++] = run;
}

static bool add_segment(struct unwind_store *store, size_t segment)
{
	struct err err;

	if (store->segments >= store->segments_max)
		return false;
	if (!store->memory.add(store->memory.self, (uint32_t)segment, &err)) {
		store->failures++;
		return false;
	}
	store->allocated[segment / 64] |= 1ULL << (segment % 64);
	store->segments++;
	return true;
}

static void unmap(struct unwind_store *store, size_t at)
{
	if (store->mapped[at].pages)
		store->memory.unmap(store->memory.self, TAKE(store->mapped[at].pages));
}

static void drop_segment(struct unwind_store *store, size_t segment)
{
	for (size_t i = 0; i < UNWIND_MAPPED_MAX; i++)
		if (store->mapped[i].pages && store->mapped[i].segment == segment)
			unmap(store, i);
	store->memory.drop(store->memory.self, (uint32_t)segment);
	store->allocated[segment / 64] &= ~(1ULL << (segment % 64));
	store->segments--;
}

/* Bits of the pages of a segment that are in use; all of them if the segment must not be added. */
static uint64_t unavailable(const struct unwind_store *store, size_t segment, bool may_add)
{
	return may_add || is_allocated(store, segment) ? store->used[segment] : UINT64_MAX;
}

/* The first run of free pages; 0: not found. */
static uint64_t find_run(const struct unwind_store *store, uint32_t pages, bool may_add)
{
	uint64_t start = 0, len = 0;

	for (size_t segment = 0; segment < UNWIND_SEGMENTS_MAX; segment++) {
		uint64_t bits = unavailable(store, segment, may_add);

		if (bits == UINT64_MAX) {
			len = 0;
			continue;
		}
		for (unsigned int bit = 0; bit < UNWIND_SEGMENT_PAGES; bit++) {
			if (bits >> bit & 1) {
				len = 0;
				continue;
			}
			if (!len++)
				start = segment * UNWIND_SEGMENT_PAGES + bit;
			if (len >= pages)
				return start;
		}
	}
	return 0;
}

static void mark(struct unwind_store *store, uint64_t page, uint32_t pages, bool used)
{
	for (uint64_t at = page; at < page + pages; at++) {
		uint64_t bit = 1ULL << (at % UNWIND_SEGMENT_PAGES);

		if (used)
			store->used[at / UNWIND_SEGMENT_PAGES] |= bit;
		else
			store->used[at / UNWIND_SEGMENT_PAGES] &= ~bit;
	}
	store->pages_used = used ? store->pages_used + pages : store->pages_used - pages;
}

/* Drop segments without a used page. Page 0, which is always marked as used, does not count. */
static void drop_empty(struct unwind_store *store, size_t first, size_t last)
{
	for (size_t segment = first; segment <= last; segment++)
		if (is_allocated(store, segment) && store->used[segment] == (segment == 0))
			drop_segment(store, segment);
}

static uint64_t segments_of(uint32_t pages)
{
	return (pages + UNWIND_SEGMENT_PAGES - 1) / UNWIND_SEGMENT_PAGES;
}

bool unwind_store_can_ever_fit(const struct unwind_store *store, uint32_t pages)
{
	return segments_of(pages) <= store->segments_max;
}

/* The first page of enough adjacent segments that are not allocated; 0: there is no room. */
static uint64_t find_segments(const struct unwind_store *store, uint32_t pages)
{
	uint64_t len = 0, wanted = segments_of(pages);

	if (store->segments + wanted > store->segments_max)
		return 0;
	for (size_t segment = 1; segment < UNWIND_SEGMENTS_MAX; segment++) {
		len = is_allocated(store, segment) ? 0 : len + 1;
		if (len == wanted)
			return (segment + 1 - wanted) * UNWIND_SEGMENT_PAGES;
	}
	return 0;
}

static uint64_t find_place(const struct unwind_store *store, uint32_t pages)
{
	uint64_t page = pages >= LARGE_PAGES ? find_segments(store, pages) : 0;

	if (!page)
		page = find_run(store, pages, false);
	return page ? page : find_run(store, pages, true);
}

uint32_t unwind_store_alloc(struct unwind_store *store, uint32_t pages)
{
	if (!pages || !unwind_store_can_ever_fit(store, pages))
		return 0;

	uint64_t page = find_place(store, pages);

	if (!page)
		return 0;

	size_t first = page / UNWIND_SEGMENT_PAGES;
	size_t last = (page + pages - 1) / UNWIND_SEGMENT_PAGES;

	for (size_t segment = first; segment <= last; segment++)
		if (!is_allocated(store, segment) && !add_segment(store, segment)) {
			drop_empty(store, first, segment);
			return 0;
		}
	mark(store, page, pages, true);
	return (uint32_t)page;
}

void unwind_store_release(struct unwind_store *store, uint32_t page, uint32_t pages)
{
	push(&store->released, (struct unwind_run){ page, pages });
}

void unwind_store_round(struct unwind_store *store)
{
	for (size_t i = 0; i < store->quarantined.len; i++) {
		struct unwind_run run = store->quarantined.items[i];

		mark(store, run.page, run.count, false);
		drop_empty(store, run.page / UNWIND_SEGMENT_PAGES,
			   (run.page + run.count - 1) / UNWIND_SEGMENT_PAGES);
	}

	struct unwind_runs freed = store->quarantined;

	store->quarantined = store->released;
	store->released = freed;
	store->released.len = 0;
}

bool unwind_store_has_quarantined(const struct unwind_store *store)
{
	return store->released.len || store->quarantined.len;
}

static uint8_t *map_segment(struct unwind_store *store, uint32_t segment)
{
	for (size_t i = 0; i < UNWIND_MAPPED_MAX; i++)
		if (store->mapped[i].pages && store->mapped[i].segment == segment) {
			store->mapped[i].is_used = true;
			return store->mapped[i].pages;
		}

	size_t at = store->next_mapped++ % UNWIND_MAPPED_MAX;

	unmap(store, at);
	store->mapped[at].segment = segment;
	store->mapped[at].is_used = true;
	store->mapped[at].pages = store->memory.map(store->memory.self, segment);
	return store->mapped[at].pages;
}

uint8_t *unwind_store_page(struct unwind_store *store, uint64_t page)
{
	uint64_t segment = page / UNWIND_SEGMENT_PAGES;

	if (segment >= UNWIND_SEGMENTS_MAX || !is_allocated(store, segment))
		return NULL;

	uint8_t *pages = map_segment(store, (uint32_t)segment);

	return pages ? pages + page % UNWIND_SEGMENT_PAGES * UNWIND_PAGE_BYTES : NULL;
}

static bool read_all(int fd, uint8_t *to, size_t len, uint64_t offset, struct err *err)
{
	while (len) {
		ssize_t n = pread(fd, to, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(err, "read a table");
		if (n == 0)
			return err_set(err, ERR_INVALID, "a table ends %zu bytes early", len);
		to += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return true;
}

bool unwind_store_read(struct unwind_store *store, uint32_t page, uint32_t pages, int fd,
		       uint64_t offset, struct err *err)
{
	while (pages) {
		uint32_t piece = UNWIND_SEGMENT_PAGES - page % UNWIND_SEGMENT_PAGES;
		uint8_t *to = unwind_store_page(store, page);

		if (piece > pages)
			piece = pages;
		if (!to)
			return err_set(err, ERR_IO, "the pages of a table cannot be mapped");
		if (!read_all(fd, to, (size_t)piece * UNWIND_PAGE_BYTES, offset, err))
			return false;
		offset += (uint64_t)piece * UNWIND_PAGE_BYTES;
		page += piece;
		pages -= piece;
	}
	return true;
}

void unwind_store_unmap_idle(struct unwind_store *store)
{
	size_t kept = 0;

	for (size_t i = 0; i < UNWIND_MAPPED_MAX; i++) {
		if (!store->mapped[i].is_used || kept == UNWIND_MAPPED_KEPT)
			unmap(store, i);
		else
			kept++;
		store->mapped[i].is_used = false;
	}
}

void unwind_store_done(struct unwind_store *store)
{
	for (size_t i = 0; i < UNWIND_MAPPED_MAX; i++)
		unmap(store, i);
	for (size_t segment = 0; store->allocated && segment < UNWIND_SEGMENTS_MAX; segment++)
		if (is_allocated(store, segment))
			drop_segment(store, segment);
	free(store->used);
	free(store->allocated);
	free(store->released.items);
	free(store->quarantined.items);
	*store = (struct unwind_store){ 0 };
}
