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
 *
 * Agent thread only.
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
	/* Adds a segment of UNWIND_SEGMENT_PAGES zeroed pages; BPF programs see the segment a
	 * moment later. False, with an error: nothing was added. */
	bool (*add)(void *self, uint32_t segment, struct err *err);
	void (*drop)(void *self, uint32_t segment);

	/* Maps the pages of a segment for reading and writing until unmap(). NULL: mmap failed. */
	uint8_t *(*map)(void *self, uint32_t segment);
	void (*unmap)(void *self, uint8_t *pages);

	/* Sets the entry of a process. False: the map is full. */
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
	uint64_t pages_used; /* allocated pages, quarantined pages included */
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

/* Copies *memory, whose `self` must outlive the store. Allocates no segment; cannot fail. */
void unwind_store_init(struct unwind_store *store, const struct unwind_memory *memory,
		       uint64_t max_bytes);

/* Drops all segments and frees the memory. Accepts a zeroed struct. */
void unwind_store_done(struct unwind_store *store);

/* Allocates adjacent pages and returns the number of the first. Their content is undefined. 0:
 * there is no room, or the system could not provide a segment. */
uint32_t unwind_store_alloc(struct unwind_store *store, uint32_t pages);

/* Releases pages of unwind_store_alloc(). They become free after the quarantine. */
void unwind_store_release(struct unwind_store *store, uint32_t page, uint32_t pages);

/* True if a run of `pages` pages fits into an empty store. */
bool unwind_store_can_ever_fit(const struct unwind_store *store, uint32_t pages);

/*
 * The bytes of a page, valid until unwind_store_unmap_idle() or until pages of UNWIND_MAPPED_MAX
 * other segments were requested. The pages of a segment are adjacent. NULL: the page is not
 * allocated, or mmap failed.
 */
uint8_t *unwind_store_page(struct unwind_store *store, uint64_t page);

/*
 * Fills a run of pages from the file `fd`, from byte `offset` on. ERR_IO, ERR_NOT_FOUND: the file
 * cannot be read or is too short, or mmap failed; the pages are undefined then and stay allocated.
 */
bool unwind_store_read(struct unwind_store *store, uint32_t page, uint32_t pages, int fd,
		       uint64_t offset, struct err *err) MUST_CHECK;

/* Begins a round: pages that were released before the previous round become free. */
void unwind_store_round(struct unwind_store *store);

/* True if released pages are not free yet. */
bool unwind_store_has_quarantined(const struct unwind_store *store);

/*
 * Unmaps all segments except up to UNWIND_MAPPED_KEPT that were used since the last call. Mapped
 * pages count as memory of the agent, but mapping a segment again in each round takes a quarter of
 * the round's time.
 */
void unwind_store_unmap_idle(struct unwind_store *store);
