// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_lists - the mappings of processes where BPF programs find them.
 *
 * A process is listed once it is sampled, since only a sample tells when it began to the
 * nanosecond, and most that live for a millisecond never are. What it maps from then on is told as
 * it happens. A list belongs to an image, shared by forks; it is written once, and only the tables
 * in it change. Nothing is written before the round's end: a process that is gone by then costs
 * nothing. Agent thread only.
 */
#pragma once

#include "process.h"
#include "unwind_slots.h"

struct unwind_lists {
	uint64_t processes;          /* that programs find */
	uint64_t written, evictions; /* cumulative: lists; processes that left for others */
	uint64_t refused;            /* cumulative: there was no room for a list */
	struct unwind_slots slots;   /* read its .pages */
	bool needs_pages;            /* of pages, in this round */
	bool is_stale; /* what programs remember of lists; until it is told, by who tells them */
	/* private */
	struct unwind_store *store;
	struct process **pending;
	size_t pending_len, pending_cap;
	struct process *newest, *oldest; /* listed, by their last sample */
	uint64_t refreshes;
};

void unwind_lists_init(struct unwind_lists *lists, struct unwind_store *store);
void unwind_lists_done(struct unwind_lists *lists);

/* Whether programs find the process as it is now. */
bool unwind_lists_has(const struct process *process);

/* It was sampled; and it maps something more, or is another program. */
void unwind_lists_sampled(struct unwind_lists *lists, struct process *process);
void unwind_lists_changed(struct unwind_lists *lists, struct process *process);

/* It is no more, or another process. */
void unwind_lists_forget(struct unwind_lists *lists, struct process *process);

/* At a round's end: write what changed. */
void unwind_lists_flush(struct unwind_lists *lists);

/* Tables came or left: tell it in all lists. */
void unwind_lists_refresh(struct unwind_lists *lists);

/* One for each mapping, in their order. */
void unwind_lists_fill(const struct mappings *mappings, struct unwind_mapping *to);
