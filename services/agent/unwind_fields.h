// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_fields - what the unwinder keeps in the objects of others: in an executable
 * (unwind_tables.c), in a process's image and in a process (unwind_lists.c).
 */
#pragma once

#include "base/base.h"

struct unwind_lists;
struct process;
struct process_image;

enum unwind_table_state {
	UNWIND_TABLE_NONE,      /* nobody wants it, or it had to leave */
	UNWIND_TABLE_WANTED,    /* it waits to be asked for */
	UNWIND_TABLE_REQUESTED, /* for the file of it, that exists or is built now */
	UNWIND_TABLE_THERE,     /* it waits for room */
	UNWIND_TABLE_LOADED,
	UNWIND_TABLE_FAILED, /* there is none: not asked for again */
};

struct unwind_table {
	enum unwind_table_state state;
	uint32_t page; /* the first one; 0: it is not loaded */
	/* private */
	uint32_t pages;
	uint32_t requests; /* samples that asked for it while it waits */
	uint32_t tries;    /* that failed, and may not fail the next time */
	bool is_needed;    /* a frame lies in it: others may have to leave for it */
	uint64_t retry_ns; /* not before */
	uint64_t spare_ns; /* only if it is needed before then: there was no room to spare */
	uint64_t loaded_ns;
	bool has_file;   /* the file, to be built from, by `fd` */
	int fd;          /* the file; where it is THERE that of the table */
	uint64_t opened; /* when it was opened: a count */
};

static inline bool unwind_table_is_coming(const struct unwind_table *table)
{
	return table->state == UNWIND_TABLE_WANTED || table->state == UNWIND_TABLE_REQUESTED ||
	       table->state == UNWIND_TABLE_THERE;
}

struct unwind_slot {
	uint64_t place; /* page * UNWIND_PAGE_BYTES + offset; 0: none */
	uint32_t bytes; /* as many as were asked for */
};

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
	bool is_pending, recently_remapped;
};
