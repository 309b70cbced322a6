// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_tables - which executables' tables are in the kernel, and which must leave.
 *
 * A table is wanted when a process that maps its file is sampled, and needed when a frame of a
 * sample lies in it. What is wanted is loaded while there is room; for what is needed those leave
 * that were sampled the longest time ago, or never. Agent thread only.
 */
#pragma once

#include "unwind_files.h"
#include "unwind_message.h"
#include "unwind_store.h"

extern const char *const unwind_outcome_names[UNWIND_OUTCOME_COUNT];

struct unwind_table_response {
	char build_id[BUILD_ID_TEXT_MAX];
	uint32_t outcome; /* UNWIND_BUILT, or why there is none */
	int fd;           /* the table's file, verified and the receiver's; -1: there is none */
	uint32_t pages;
};

struct unwind_table_source {
	/* False: not now. The descriptor is the source's from then on; -1: only if it is cached. */
	bool (*request)(void *self, const char *build_id, int fd);
	/* False: there is none now. */
	bool (*receive)(void *self, struct unwind_table_response *ret_response);
	void *self;
};

struct unwind_tables {
	uint64_t pages;                     /* that loaded tables have */
	uint64_t loads, evictions, refused; /* cumulative */
	uint64_t spared; /* cumulative: wanted, not needed, and there was no room */
	uint64_t outcomes[UNWIND_OUTCOME_COUNT];     /* cumulative: of what was asked for */
	struct executable_set loaded, wanted, there; /* read their .len */
	bool changed; /* tables came or left, or are awaited or not; who writes lists sets it back
		       */
	/* private */
	struct unwind_store *store;
	struct executable_cache *executables;
	struct unwind_table_source source;
	struct unwind_files files;
	size_t requested;
	bool has_quarantined; /* pages that were given back, and rest */
};

void unwind_tables_init(struct unwind_tables *tables, struct unwind_store *store,
			struct executable_cache *executables,
			const struct unwind_table_source *source);
void unwind_tables_done(struct unwind_tables *tables);

/* Of each file when it is first mapped, and when it leaves the cache of executables. */
struct executable_sink unwind_tables_sink(struct unwind_tables *tables);

void unwind_tables_want(struct unwind_tables *tables, struct executable *executable,
			const struct unwind_mapper *mapper, uint64_t now_ns);

/* Once a round, after unwind_store_round(): take what was asked for, load it, ask for more. */
void unwind_tables_round(struct unwind_tables *tables, uint64_t now_ns);

/* Let tables leave until so many pages will be free. False: those that are there are in use. */
bool unwind_tables_make_room(struct unwind_tables *tables, uint32_t pages, uint64_t now_ns);

/* Now and then: let files go that nobody maps. */
void unwind_tables_close_unmapped(struct unwind_tables *tables);
