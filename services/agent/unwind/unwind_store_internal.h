// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_store - the page allocator of the unwinder's memory.
 *
 * Runs of pages are allocated and released. Segments of UNWIND_SEGMENT_PAGES are added on demand
 * and dropped when no page in them is used. Programs may still read released pages, so these are
 * quarantined: they become free in the second unwind_store_round() after the release, a whole round
 * later. At most max_bytes are allocated.
 *
 *     page = unwind_store_alloc(&store, 3);
 *     memcpy(unwind_store_page(&store, page), ...)      valid until unwind_store_unmap_idle()
 *     unwind_store_release(&store, page, 3);
 */
#pragma once

#include "agent/agent_limits.h"
#include "base/err.h"
#include "bpf/unwind_maps.h"

/*
 * The memory that pages are in, and the map in which programs look up a process: BPF maps
 * (unwind_kernel.c), or a test's own memory.
 */
struct unwind_memory {
	/* Add a segment of UNWIND_SEGMENT_PAGES zeroed pages. Programs see it a moment later. */
	bool (*add)(void *self, uint32_t segment, struct err *err);
	void (*drop)(void *self, uint32_t segment);

	/* Map its pages for reading and writing until unmap(). NULL: mmap failed. */
	uint8_t *(*map)(void *self, uint32_t segment);
	void (*unmap)(void *self, uint8_t *pages);

	/* False: the map is full. */
	bool (*put_process)(void *self, uint32_t tgid, const struct unwind_process *process);
	void (*drop_process)(void *self, uint32_t tgid);
	void *self;
};

struct unwind_run {
	uint32_t page, count;
};

struct unwind_runs {
	struct unwind_run *items;
	size_t len, cap;
};

struct unwind_store {
	uint64_t segments;   /* allocated */
	uint64_t pages_used; /* with the quarantined ones */
	uint64_t failures;   /* cumulative: the system could not provide a segment */
	/* private */
	struct unwind_memory memory;
	uint64_t segments_max;
	uint64_t *used;      /* one bit for each page; a word for each segment */
	uint64_t *allocated; /* one bit for each segment */
	struct unwind_runs released, quarantined;
	struct {
		uint32_t segment;
		uint8_t *pages; /* NULL: unused */
		bool is_used;   /* since the last unwind_store_unmap_idle() */
	} mapped[UNWIND_MAPPED_MAX];
	size_t next_mapped;
};

void unwind_store_init(struct unwind_store *store, const struct unwind_memory *memory,
		       uint64_t max_bytes);
void unwind_store_done(struct unwind_store *store);

/* Allocate adjacent pages; returns the first. Their content is undefined. 0: there is no room. */
uint32_t unwind_store_alloc(struct unwind_store *store, uint32_t pages);
void unwind_store_release(struct unwind_store *store, uint32_t page, uint32_t pages);

/* Whether a run of this length fits into an empty store. */
bool unwind_store_can_ever_fit(const struct unwind_store *store, uint32_t pages);

/* A page's bytes. NULL: it is not allocated, or mmap failed. Pages of a segment are adjacent. */
uint8_t *unwind_store_page(struct unwind_store *store, uint64_t page);

/* Fill a run of pages from a file, from `offset` on. */
bool unwind_store_read(struct unwind_store *store, uint32_t page, uint32_t pages, int fd,
		       uint64_t offset, struct err *err) MUST_CHECK;

/* Begin a round: pages that were released before the previous round become free. */
void unwind_store_round(struct unwind_store *store);

/* Whether released pages are not free yet. */
bool unwind_store_has_quarantined(const struct unwind_store *store);

/*
 * Unmap all segments except up to UNWIND_MAPPED_KEPT that were used since the last call. Mapped
 * pages count as the agent's memory; mapping them again in each round takes a quarter of the
 * round's time.
 */
void unwind_store_unmap_idle(struct unwind_store *store);
