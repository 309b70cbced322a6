// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * unwind_maps - the BPF maps in which the agent puts unwind tables and mappings.
 *
 * Tables and lists of mappings ("unwind/unwind_format.h") are runs of pages. The number of a page
 * is segment * UNWIND_SEGMENT_PAGES + its index in the segment; a run may cross segments. Page 0 is
 * never allocated, so table number 0 means "no table".
 *
 *     unwind_segments   segment -> array of pages, mapped and written by the agent
 *     unwind_processes  tgid -> where the list of its mappings is
 */
#pragma once

#include "unwind/unwind_format.h"

#include <stdint.h>

enum {
	UNWIND_SEGMENT_PAGES = 64,
	UNWIND_SEGMENTS_MAX = 8192,  /* 2 GB */
	UNWIND_PROCESSES_MAX = 8192, /* about 900 KB */
	UNWIND_MAPPINGS_MAX = 8192,  /* of a process; more are not searched */
	UNWIND_LIST_PAGE = UNWIND_PAGE_BYTES / sizeof(struct unwind_mapping),
	UNWIND_LIST_PAGES_MAX = UNWIND_MAPPINGS_MAX / UNWIND_LIST_PAGE,
};

/* An entry of unwind_processes. It is valid only for the process that began at start_ns and whose
 * exec counter is exec_id, not for another process or program with the same pid. */
struct unwind_process {
	uint64_t start_ns, exec_id; /* as in struct sample_record */
	uint64_t
		place; /* page's number * UNWIND_PAGE_BYTES + offset, of the first unwind_mapping */
	/* Of struct unwind_mapping. Up to UNWIND_LIST_PAGE lie in one page; more begin with a page.
	 */
	uint32_t count;
	uint32_t flags; /* UNWIND_PROCESS_... */
};

enum {
	/* The process has recently mapped code over other code: the list may be outdated. */
	UNWIND_PROCESS_REMAPPED = 1 << 2,
};
_Static_assert(sizeof(struct unwind_process) == 32, "no padding");

/*
 * The BPF programs cache rules and mappings from tick to tick. The agent increases `tables` or
 * `lists` when a table or list that may be cached has changed, and long before its pages are
 * reused.
 */
struct unwind_generation {
	uint32_t tables, lists;
};
