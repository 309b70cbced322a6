// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_store - which pages of the unwinder's memory are whose.
 *
 * Runs of pages are taken and given back; segments are made where they are needed and dropped when
 * nothing in them is used. Programs may still read what was given back: it is free only after the
 * second unwind_store_round() from then, a whole round later. No more than max_bytes are ever held.
 *
 *     page = unwind_store_alloc(&store, 3);
 *     memcpy(unwind_store_page(&store, page), ...)      good until unwind_store_unmap_idle()
 *     unwind_store_release(&store, page, 3);
 */
#pragma once

#include "agent_limits.h"
#include "base/err.h"
#include "unwind_maps.h"

/* Where the pages are: in BPF maps (unwind_kernel.c), or a test's own memory. And where programs
 * look up a process. */
struct unwind_memory {
	/* A segment of UNWIND_SEGMENT_PAGES zeroed pages; programs see it a moment later. */
	bool (*add)(void *self, uint32_t segment, struct err *err);
	void (*drop)(void *self, uint32_t segment);

	/* Its pages, to be read and written until unmap(); NULL: not now. */
	uint8_t *(*map)(void *self, uint32_t segment);
	void (*unmap)(void *self, uint8_t *pages);

	/* False: there is no room for one more. */
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
	uint64_t segments;   /* held */
	uint64_t pages_used; /* what was given back and rests among them */
	uint64_t failures;   /* cumulative: the system gave no segment */
	/* private */
	struct unwind_memory memory;
	uint64_t segments_max;
	uint64_t *used;      /* a bit for each page: a segment's are one word */
	uint64_t *allocated; /* a bit for each segment */
	struct unwind_runs released, quarantined;
	struct {
		uint32_t segment;
		uint8_t *pages; /* NULL: none */
		bool is_used;   /* since unwind_store_unmap_idle() */
	} mapped[UNWIND_MAPPED_MAX];
	size_t next_mapped;
};

void unwind_store_init(struct unwind_store *store, const struct unwind_memory *memory,
		       uint64_t max_bytes);
void unwind_store_done(struct unwind_store *store);

/* The first of a run of pages; 0: there is no room. What is in them is anything. */
uint32_t unwind_store_alloc(struct unwind_store *store, uint32_t pages);
void unwind_store_release(struct unwind_store *store, uint32_t page, uint32_t pages);

/* Whether so many could ever be taken. */
bool unwind_store_can_ever_fit(const struct unwind_store *store, uint32_t pages);

/* A page's bytes; NULL: nobody's, or it cannot be mapped now. Pages of a segment are adjacent. */
uint8_t *unwind_store_page(struct unwind_store *store, uint64_t page);

/* Write a run's bytes from the descriptor's position on. */
bool unwind_store_read(struct unwind_store *store, uint32_t page, uint32_t pages, int fd,
		       uint64_t offset, struct err *err) MUST_CHECK;

/* A round begins: what was given back before the last one is free. */
void unwind_store_round(struct unwind_store *store);

/* Whether pages that were given back are still not free. */
bool unwind_store_has_quarantined(const struct unwind_store *store);

/*
 * Of what is mapped UNWIND_MAPPED_KEPT segments stay, if they were used since the last time: mapped
 * pages count as the agent's own, and to map them for each round takes a quarter of its time.
 */
void unwind_store_unmap_idle(struct unwind_store *store);
