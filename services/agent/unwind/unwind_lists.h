// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_lists - maintains lists of the mappings of processes, in pages that BPF programs read.
 *
 * BPF programs find the list of a process by its pid, and need it to unwind the process's stacks. A
 * process is listed after its first sample: only a sample has the process's start time in
 * nanoseconds, which identifies the process, and most processes that live for a millisecond are
 * never sampled. A list belongs to a process image ("agent/process/process_image.h"), so a process
 * and its forks share one list. The addresses in a written list never change: if a process maps
 * something new, its image gets a new list. Only the numbers and flags of the unwind tables in a
 * list are updated in place.
 *
 * A "round" is one period of the sampling thread (DRAIN_INTERVAL_MS). Changes are collected during
 * a round and written by unwind_lists_flush() at its end, so a process that has ended by then costs
 * nothing. No function fails: a list without room is counted, and the next sample of its process
 * tries again. Agent thread only. The struct keeps pointers to processes: call
 * unwind_lists_forget() before a process is freed.
 */
#pragma once

#include "agent/process/process.h"
#include "agent/unwind/unwind_slots_internal.h"

struct unwind_lists {
	uint64_t processes;          /* processes that are listed now */
	uint64_t written, evictions; /* cumulative: lists written; processes removed to make room */
	uint64_t refused; /* cumulative: lists that could not be written: no room, or mmap failed */
	struct unwind_slots slots; /* the memory of the lists; others read only slots.pages */
	bool needs_pages; /* set by flush: a list below the limit of lists found no free page */
	bool is_stale;    /* BPF programs may have cached old lists; reset by unwind_loader */
	/* private */
	struct unwind_store *store;
	struct process **pending;
	size_t pending_len, pending_cap;
	TAILQ_HEAD(processes_by_sample, process) by_sample; /* listed; the latest sample first */
	uint64_t refreshes;
};

/* `store` must outlive `lists`. */
void unwind_lists_init(struct unwind_lists *lists, struct unwind_store *store);

/* Unlists all processes, releases their images, and frees the memory. The processes must still
 * exist. Accepts a zeroed struct. */
void unwind_lists_done(struct unwind_lists *lists);

/* True if BPF programs find the list of the process's current image, start and exec. */
bool unwind_lists_has(const struct process *process);

/* The process was sampled: lists it at the end of the round if it is not listed, and makes it the
 * last process to be evicted. */
void unwind_lists_sampled(struct unwind_lists *lists, struct process *process);

/* The process has a new mapping, or has called exec: if it is listed, its list is replaced at the
 * end of the round. */
void unwind_lists_changed(struct unwind_lists *lists, struct process *process);

/* The process has ended, or its pid belongs to another process now: removes it at once. */
void unwind_lists_forget(struct unwind_lists *lists, struct process *process);

/* At the end of a round: writes the lists that unwind_lists_sampled() and unwind_lists_changed()
 * collected. */
void unwind_lists_flush(struct unwind_lists *lists);

/* Called after unwind tables were loaded or evicted, or became pending: updates the tables in all
 * lists at once. */
void unwind_lists_refresh(struct unwind_lists *lists);

/* Writes one entry for each mapping, in the same order, to `to`, an array of mappings->len entries.
 * Changes nothing else. */
void unwind_lists_fill(const struct mappings *mappings, struct unwind_mapping *to);
