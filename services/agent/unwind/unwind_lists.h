// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_lists - lists of the mappings of processes, where BPF programs find them.
 *
 * A process is listed after its first sample: only a sample has the process's start time in
 * nanoseconds, and most processes that live for a millisecond are never sampled. From then on its
 * new mappings are reported as they happen. A list belongs to a process image, which forks share.
 * It is written once; only the tables in it change. Nothing is written before the end of the round,
 * so a process that has ended by then costs nothing. Agent thread only.
 */
#pragma once

#include "agent/process/process.h"
#include "agent/unwind/unwind_slots_internal.h"

struct unwind_lists {
	uint64_t processes;          /* listed */
	uint64_t written, evictions; /* cumulative: lists; processes unlisted to make room */
	uint64_t refused;            /* cumulative: lists that found no room */
	struct unwind_slots slots;   /* read its .pages */
	bool needs_pages;            /* in this round a list within its limit found no free page */
	bool is_stale; /* lists changed that programs may have cached; unwind_loader resets it */
	/* private */
	struct unwind_store *store;
	struct process **pending;
	size_t pending_len, pending_cap;
	struct process *newest, *oldest; /* listed processes, by their last sample */
	uint64_t refreshes;
};

void unwind_lists_init(struct unwind_lists *lists, struct unwind_store *store);
void unwind_lists_done(struct unwind_lists *lists);

/* Whether programs find the current state of the process. */
bool unwind_lists_has(const struct process *process);

/* The process was sampled; it has a new mapping, or has called exec. */
void unwind_lists_sampled(struct unwind_lists *lists, struct process *process);
void unwind_lists_changed(struct unwind_lists *lists, struct process *process);

/* The process has ended, or its pid is another process now. */
void unwind_lists_forget(struct unwind_lists *lists, struct process *process);

/* At the end of a round: write the pending lists. */
void unwind_lists_flush(struct unwind_lists *lists);

/* Tables were loaded or evicted: update all lists. */
void unwind_lists_refresh(struct unwind_lists *lists);

/* Fill `to` with one entry for each mapping, in the same order. */
void unwind_lists_fill(const struct mappings *mappings, struct unwind_mapping *to);
