// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * unwind_maps - how the agent hands unwind tables and mappings to the BPF programs.
 *
 * Tables and lists of mappings (object/unwind_format.h) are runs of pages. A page has a number:
 * segment * UNWIND_SEGMENT_PAGES + its place in the segment; a run may cross segments. Page 0 is
 * never given away: a table numbered 0 is none.
 *
 *     unwind_segments   segment -> array of pages, mapped and written by the agent
 *     unwind_processes  tgid -> where the list of its mappings is
 */
#pragma once

#include "object/unwind_format.h"

#include <stdint.h>

enum {
	UNWIND_SEGMENT_PAGES = 64,
	UNWIND_SEGMENTS_MAX = 8192,  /* 2 GB */
	UNWIND_PROCESSES_MAX = 8192, /* about 900 KB */
	UNWIND_MAPPINGS_MAX = 8192,  /* of a process; those beyond are not seen */
	UNWIND_LIST_PAGE = UNWIND_PAGE_BYTES / sizeof(struct unwind_mapping),
	UNWIND_LIST_PAGES_MAX = UNWIND_MAPPINGS_MAX / UNWIND_LIST_PAGE,
};

/* Of the process that began at start_ns and has done so many execs; of no other with its pid. */
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
	/* Code takes the place of other code in it: the list may be outdated. */
	UNWIND_PROCESS_RESTLESS = 1 << 2,
};
_Static_assert(sizeof(struct unwind_process) == 32, "no padding");

/*
 * Programs remember what they found from tick to tick. Each number is raised when something of its
 * kind that may be remembered is no more as it was, long before its pages become another's.
 */
struct unwind_generation {
	uint32_t tables, lists;
};
