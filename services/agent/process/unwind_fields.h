// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_fields - the unwinder's data inside other objects: in an executable (unwind_tables.c), in
 * a process image and in a process (unwind_lists.c).
 *
 * A header of its own, since executable.h, process_image.h and process.h embed these structs.
 */
#pragma once

#include "base/base.h"

struct unwind_lists;
struct process;
struct process_image;

enum unwind_table_state {
	UNWIND_TABLE_NONE,      /* not wanted, evicted, or to be retried */
	UNWIND_TABLE_WANTED,    /* waits to be requested */
	UNWIND_TABLE_REQUESTED, /* from the source, which fetches or builds it */
	UNWIND_TABLE_FETCHED,   /* its file is open; it waits for room */
	UNWIND_TABLE_LOADED,
	UNWIND_TABLE_FAILED, /* it cannot be built; never requested again */
};

struct unwind_table {
	enum unwind_table_state state;
	uint32_t page; /* the first one; 0: not loaded */
	/* private */
	uint32_t pages;
	uint32_t requests;      /* samples that wanted it while it waits */
	uint32_t tries;         /* failures that may not happen again */
	bool is_needed;         /* a frame lies in it: other tables may be evicted for it */
	uint64_t retry_ns;      /* not requested before */
	uint64_t skip_until_ns; /* before then requested only if needed: there was no room */
	uint64_t loaded_ns;
	bool has_file;   /* `fd` is the open ELF file */
	int fd;          /* the ELF file; in state THERE the table's file */
	uint64_t opened; /* sequence number: when the ELF file was opened */
};

/* Whether the table is on its way into the kernel. */
static inline bool unwind_table_is_pending(const struct unwind_table *table)
{
	return table->state == UNWIND_TABLE_WANTED || table->state == UNWIND_TABLE_REQUESTED ||
	       table->state == UNWIND_TABLE_FETCHED;
}

struct unwind_slot {
	uint64_t place; /* page * UNWIND_PAGE_BYTES + offset; 0: not allocated */
	uint32_t bytes; /* as requested */
};

/* The list of an image's mappings in the pages. An image whose mappings change has a new list. */
struct unwind_list {
	bool wanted; /* the tables of all its mappings were requested */
	/* private */
	struct unwind_slot slot; /* .place 0: not written */
	uint32_t count;          /* of mappings */
	uint32_t users;          /* processes that are listed with it */
	uint64_t seen;           /* the last refresh that visited it */
};

/* What programs find for a process. */
struct unwind_listing {
	/* private */
	struct process_image *image;   /* holds a reference; NULL: not listed */
	uint64_t start_ns, exec_id;    /* as listed */
	struct process *newer, *older; /* of the list by last sample */
	bool is_pending, recently_remapped;
};
