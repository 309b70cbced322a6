// SPDX-License-Identifier: Apache-2.0
/*
 * tables - the store of symbol tables, by build id: files on disk that are mapped on use, and
 * cached reasons why a build id has no table.
 *
 *     DIR/tables/6f3c1e8a...-1787479200123.table       BUILD_ID-GENERATION.table
 *     DIR/tables/6f3c1e8a...-0.second                  a fallback: built from an executable, or
 *                                                      without the dwz file
 *     DIR/work/0/                                      what worker 0 fetches and builds
 *     DIR/lock                                         locked by the process that uses DIR
 *
 * A generation is the version of a build id's debug file at the debuginfo service; 0: the server
 * has no generations, or no longer has the file. A build id has one entry. tables_lookup() finds
 * the table for a generation. If there is no table, one caller starts the build with
 * tables_begin() and ends it with tables_finish(); the other callers wait:
 *
 *     changes = tables_changes(tables);          before the lookup, so that no change is missed
 *     lookup = tables_lookup(tables, id, generation);
 *     if (lookup.state == TABLE_BUILDING)
 *             tables_wait(tables, changes, deadline_ns), then look up again
 *
 * If the files exceed max_bytes or the entries exceed TABLES_MAX, the least recently used entries
 * are evicted. A table that a caller has looked up stays mapped until the caller releases it, even
 * after an eviction. A table is verified when it is mapped; tables_lookup() removes a corrupt file
 * and returns TABLE_MISSING. Any thread, except tables_open() and tables_close().
 */
#pragma once

#include "base/cancel.h"
#include "base/index.h"
#include "elf/build_id.h"
#include "symbols/symbol_table.h"
#include "wire/symbolize.h"

#include <pthread.h>
#include <sys/queue.h>

/* No server could report the generation: any table or reason matches. */
#define GENERATION_UNKNOWN UINT64_MAX

struct mapped_table {
	struct symbol_table symbols;
	uint64_t generation;
	bool is_fallback;
	/* private */
	unsigned int references; /* protected by the lock */
};

struct tables {
	/* private; protected by the lock, except the directories and max_bytes */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int root, directory; /* -1: closed */
	int lock_file;
	uint64_t max_bytes, bytes, changes;
	INDEX(struct table_entry *) entries;            /* by build id */
	TAILQ_HEAD(entries_by_use, table_entry) by_use; /* the latest first */
};

/*
 * Creates the directory if needed and reads the list of its tables. `directory` is not kept.
 * ERR_BUSY: another process uses the directory; ERR_IO or ERR_NOT_FOUND: it cannot be created or
 * opened. Nothing is open after a failure.
 */
bool tables_open(struct tables *tables, const char *directory, uint64_t max_bytes,
		 struct err *err) MUST_CHECK;

/* Frees all memory; the files stay. The caller must have released all tables and joined all threads
 * that use them. Accepts a zeroed struct and one whose tables_open() failed. */
void tables_close(struct tables *tables);

enum table_state {
	TABLE_READY,    /* `mapped` is the table for the generation */
	TABLE_NEGATIVE, /* a recent build failed; `reason` says why */
	TABLE_BUILDING, /* a thread maps or builds the table: call tables_wait() */
	TABLE_MISSING,  /* no table and no build: call tables_begin() */
};

struct table_lookup {
	enum table_state state;
	enum name_reason reason; /* set for TABLE_NEGATIVE only */
	/* TABLE_READY: the table. Other states: a table of another generation that the caller may
	 * use as a substitute, or NULL. The caller releases it in each state. */
	struct mapped_table *mapped;
	/* TABLE_READY with a fallback: the caller should try tables_begin(), for a better file */
	bool is_refresh_due;
};

/* Cannot fail. Maps the table file if needed, which reads all of it. The caller must release
 * `mapped` with tables_release(). */
struct table_lookup tables_lookup(struct tables *tables, const struct build_id *id,
				  uint64_t generation);

/* Releases one reference. `mapped` may be NULL. */
void tables_release(struct tables *tables, struct mapped_table *mapped);

/* True: the caller must build the table, then call tables_finish(), also if the build fails. False:
 * another thread maps or builds the table. True does not mean that there is no table. */
bool tables_begin(struct tables *tables, const struct build_id *id);

/* The result of a build. */
struct table_result {
	/* NAME_KNOWN: a table was built. NAME_PENDING: the build was cancelled; the entry stays as
	 * it was, and a waiter may begin the build. Other reasons are cached. */
	enum name_reason reason;
	uint64_t generation;
	const char *file; /* path of the built table, relative to DIR; for NAME_KNOWN */
	bool is_fallback;
	/* how long the reason is cached; 0: FAILED_SECONDS (symbolizer_limits.h) */
	uint64_t ttl_ns;
};

/*
 * Ends a build and wakes all waiters. A built table is verified, its file is moved into
 * DIR/tables, and it replaces the entry's table. `result` is borrowed during the call. False: the
 * file could not be verified or moved, and stays where it was; the entry caches NAME_TOO_LARGE
 * (ERR_LIMIT: more than max_bytes) or NAME_UNAVAILABLE (other codes). The caller only logs the
 * error: the build is over in both cases.
 */
bool tables_finish(struct tables *tables, const struct build_id *id,
		   const struct table_result *result, struct err *err);

/* How many times a table of any build id was mapped or a build ended. */
uint64_t tables_changes(struct tables *tables);

/* Blocks until tables_changes() differs from `changes`. False: the deadline (CLOCK_MONOTONIC, in
 * nanoseconds) passed first. */
bool tables_wait(struct tables *tables, uint64_t changes, uint64_t deadline_ns);

/* For the metrics page of the process. */
extern struct metric *const tables_metrics[];
