// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_tables - decides which executables' unwind tables are in the kernel, and which are
 * evicted.
 *
 * A table is wanted when a process that maps its file is sampled, and needed when a frame of a
 * sample lies in it. A wanted table is loaded if there is room. For a needed table others are
 * evicted: those that were never sampled first, then the least recently sampled. A table that was
 * sampled lately gives way only to one whose owner has fewer pages, that one included. Of the
 * requests no owner uses up what others need (shares.h). Agent thread only.
 * No function fails with an error: failures are counted in `outcomes` and retried if a retry may
 * help.
 */
#pragma once

#include "agent/unwind/unwind_files_internal.h"
#include "agent/unwind/unwind_message_internal.h"
#include "agent/unwind/unwind_store_internal.h"

extern const char *const unwind_outcome_names[UNWIND_OUTCOME_COUNT];

struct unwind_table_response {
	char own_id[BUILD_ID_TEXT_MAX]; /* of the executable, as its number */
	uint64_t number;
	uint32_t outcome; /* UNWIND_BUILT, or why there is no table */
	int fd;           /* the table's file, verified, owned by the receiver; -1: no table */
	uint32_t pages;
};

/* The interface to a source of tables: unwind_builder.c, or a test. Neither function waits. */
struct unwind_table_source {
	/*
	 * Requests the table of a file that was read; the executable is borrowed during the call.
	 * `fd`: the ELF file; -1: only from the cache. True: the source owns the descriptor now,
	 * and one response will follow. False: too many requests are pending; the descriptor stays
	 * the caller's.
	 */
	bool (*request)(void *self, const struct executable *executable, int fd);
	/* Returns the next response, whose descriptor the caller owns. False: there is no response
	 * now. */
	bool (*receive)(void *self, struct unwind_table_response *ret_response);
	void *self;
};

struct unwind_tables {
	uint64_t pages;                      /* of loaded tables */
	uint64_t loads, evictions;           /* cumulative */
	uint64_t refused[OWNER_CLASS_COUNT]; /* cumulative, by class of the owner */
	uint64_t skipped;                    /* cumulative: wanted, not needed, and found no room */
	uint64_t outcomes[UNWIND_OUTCOME_COUNT];       /* cumulative, of all responses */
	struct executable_set loaded, wanted, fetched; /* others read only .len */
	bool changed; /* tables were loaded, evicted or became pending; unwind_loader resets it */
	/* private */
	struct unwind_store *store;
	struct executable_cache *executables;
	struct unwind_table_source source;
	struct unwind_files files;
	size_t requested;
	struct shares requests; /* of these, those whose executable is known */
	struct shares owners;   /* pages of loaded tables; not limited */
	bool has_quarantined;   /* released pages are not free yet */
};

/* Copies *source. `store`, `executables` and source->self must outlive `tables`. */
void unwind_tables_init(struct unwind_tables *tables, struct unwind_store *store,
			struct executable_cache *executables,
			const struct unwind_table_source *source);

/* Closes all files. Tables in the kernel stay until unwind_store_done(). The executables may be
 * freed before, if the executable cache has called forget() for each. */
void unwind_tables_done(struct unwind_tables *tables);

/* The sink for executable_cache_set_sink(). Valid until unwind_tables_done(). */
struct executable_sink unwind_tables_sink(struct unwind_tables *tables);

/*
 * A process that maps the executable was sampled; mapper->is_needed: a frame lies in the file.
 * Requests the table unless it is pending or loaded, has failed for good, or must not be retried
 * yet. `mapper` is borrowed during the call; now_ns: CLOCK_MONOTONIC.
 */
void unwind_tables_want(struct unwind_tables *tables, struct executable *executable,
			const struct unwind_mapper *mapper, uint64_t now_ns);

/* Called once per round, after unwind_store_round(): receives responses, loads tables, sends
 * requests. */
void unwind_tables_round(struct unwind_tables *tables, uint64_t now_ns);

/*
 * Evicts tables until `pages` pages will be free, after their quarantine: tables that were not
 * sampled in the last UNWIND_KEPT_MS, and those of owners with more than `held` pages. False: these
 * have fewer pages together; then nothing is evicted.
 */
bool unwind_tables_make_room(struct unwind_tables *tables, uint32_t pages, uint64_t held,
			     uint64_t now_ns);

/* Closes open files that no process maps. */
void unwind_tables_close_unmapped(struct unwind_tables *tables);
