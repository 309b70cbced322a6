// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_fields - the unwinder's data inside other objects: in an executable (unwind_tables.c), in
 * a process image and in a process (unwind_lists.c).
 *
 * A header of its own, because executable.h, process_image.h and process.h embed these structs.
 * Only agent thread; unwind_tables.c and unwind_lists.c write the fields.
 */
#pragma once

#include "base/base.h"

#include <sys/queue.h>

struct unwind_lists;
struct process;
struct process_image;

enum unwind_table_state {
	UNWIND_TABLE_NONE,      /* not wanted, evicted, or to be retried */
	UNWIND_TABLE_WANTED,    /* waits to be requested */
	UNWIND_TABLE_REQUESTED, /* from the source, which fetches or builds it */
	UNWIND_TABLE_FETCHED,   /* its file is open; it waits for room in the kernel */
	UNWIND_TABLE_LOADED,
	UNWIND_TABLE_FAILED, /* it cannot be built; never requested again */
};

struct unwind_table {
	enum unwind_table_state state;
	uint32_t page; /* the first page of the loaded table; 0: not loaded */
	/* private */
	uint32_t pages;
	uint32_t requests; /* samples that wanted the table while it waits */
	uint32_t tries;    /* failures that may not happen again */
	bool is_needed;  /* a frame lies in the file: other tables may be evicted for this table */
	bool is_awaited; /* the file was requested: the table is wanted as soon as it is open */
	uint64_t retry_ns;      /* not requested before this time */
	uint64_t skip_until_ns; /* there was no room: until then requested only if is_needed */
	uint64_t loaded_ns;
	bool has_file;   /* `fd` is the open ELF file */
	int fd;          /* the ELF file; in state UNWIND_TABLE_FETCHED the table's file */
	uint64_t opened; /* sequence number: when the ELF file was opened */
};

/* True if the table is wanted and neither loaded nor failed. */
static inline bool unwind_table_is_pending(const struct unwind_table *table)
{
	return table->state == UNWIND_TABLE_WANTED || table->state == UNWIND_TABLE_REQUESTED ||
	       table->state == UNWIND_TABLE_FETCHED;
}

/* A part of the pages for a list of mappings. */
struct unwind_slot {
	uint64_t place; /* page * UNWIND_PAGE_BYTES + offset; 0: not allocated */
	uint32_t bytes; /* as requested */
};

/* The list of an image's mappings in the pages of the BPF map. An image whose mappings change gets
 * a new list. */
struct unwind_list {
	bool wanted; /* the tables of all its mappings were requested */
	/* private */
	struct unwind_slot slot; /* .place 0: not written */
	uint32_t count;          /* of mappings */
	uint32_t users;          /* processes that are listed with it */
	uint64_t seen;           /* sequence number of the last refresh that visited the list */
};

/* The state of a process that BPF programs find by its pid. */
struct unwind_listing {
	/* private */
	struct process_image *image;    /* holds a reference; NULL: not listed */
	uint64_t start_ns, exec_id;     /* as listed */
	TAILQ_ENTRY(process) by_sample; /* of the list by last sample */
	bool is_pending, recently_remapped;
};
