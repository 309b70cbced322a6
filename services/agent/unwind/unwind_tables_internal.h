// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_tables - decides which executables' unwind tables are in the kernel, and which are
 * evicted.
 *
 * A table is wanted when a process that maps its file is sampled, and needed when a frame of a
 * sample lies in it. A wanted table is loaded if there is room. For a needed table others are
 * evicted: those that were never sampled first, then the least recently sampled. Agent thread only.
 */
#pragma once

#include "agent/unwind/unwind_files_internal.h"
#include "agent/unwind/unwind_message_internal.h"
#include "agent/unwind/unwind_store_internal.h"

extern const char *const unwind_outcome_names[UNWIND_OUTCOME_COUNT];

struct unwind_table_response {
	char build_id[BUILD_ID_TEXT_MAX];
	uint32_t outcome; /* UNWIND_BUILT, or why there is no table */
	int fd;           /* the table's file, verified, owned by the receiver; -1: no table */
	uint32_t pages;
};

/* Where tables come from: unwind_builder.c, or a test. Neither call waits. */
struct unwind_table_source {
	/*
	 * Request a table. `fd` -1: only from the cache. True: the source owns the descriptor.
	 * False: too many requests are pending.
	 */
	bool (*request)(void *self, const char *build_id, int fd);
	/* The next response. False: there is no response now. */
	bool (*receive)(void *self, struct unwind_table_response *ret_response);
	void *self;
};

struct unwind_tables {
	uint64_t pages;                     /* of loaded tables */
	uint64_t loads, evictions, refused; /* cumulative */
	uint64_t skipped;                   /* cumulative: wanted, not needed, and found no room */
	uint64_t outcomes[UNWIND_OUTCOME_COUNT];       /* cumulative, of all responses */
	struct executable_set loaded, wanted, fetched; /* read their .len */
	bool changed; /* tables were loaded, evicted or became pending; unwind_loader resets it */
	/* private */
	struct unwind_store *store;
	struct executable_cache *executables;
	struct unwind_table_source source;
	struct unwind_files files;
	size_t requested;
	bool has_quarantined; /* released pages are not free yet */
};

void unwind_tables_init(struct unwind_tables *tables, struct unwind_store *store,
			struct executable_cache *executables,
			const struct unwind_table_source *source);
void unwind_tables_done(struct unwind_tables *tables);

/* Receives each executable when it is first mapped, and when it leaves the executable cache. */
struct executable_sink unwind_tables_sink(struct unwind_tables *tables);

/*
 * A process that maps the executable was sampled; mapper->is_needed: a frame lies in it. Requests
 * the table unless it is pending, loaded, or failed for good.
 */
void unwind_tables_want(struct unwind_tables *tables, struct executable *executable,
			const struct unwind_mapper *mapper, uint64_t now_ns);

/* Once a round, after unwind_store_round(): receive responses, load tables, send requests. */
void unwind_tables_round(struct unwind_tables *tables, uint64_t now_ns);

/*
 * Evict tables until `pages` pages will be free, after their quarantine. False: too few pages
 * belong to tables that were not sampled lately; then nothing is evicted.
 */
bool unwind_tables_make_room(struct unwind_tables *tables, uint32_t pages, uint64_t now_ns);

/* Close open files that no process maps. */
void unwind_tables_close_unmapped(struct unwind_tables *tables);
