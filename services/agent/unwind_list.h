// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_list - what unwind_lists.c keeps of a process and of its image, in them.
 */
#pragma once

#include "unwind_slots.h"

struct unwind_lists;
struct process;
struct process_image;

/* An image's mappings in the pages. They are written once: an image that changes has a new list. */
struct unwind_list {
	bool wanted; /* the tables of all that is mapped */
	/* private */
	struct unwind_slot slot; /* .place 0: it is in no pages */
	uint32_t count;          /* of mappings */
	uint32_t users;          /* processes that programs find it by */
	uint64_t seen;           /* the refresh that was there last */
};

/* What programs find of a process. */
struct unwind_listing {
	/* private */
	struct process_image *image; /* with a reference; NULL: they do not find it */
	uint64_t start_ns, exec_id;  /* of the process that they find */
	struct process *newer, *older;
	bool is_waiting, is_restless;
};
