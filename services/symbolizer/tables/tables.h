// SPDX-License-Identifier: Apache-2.0
/*
 * tables - the symbol tables of this process: on disk, mapped, or known to be unavailable.
 *
 *     DIR/tables/6f3c1e8a...-1787479200123.table       built from a debug file of that generation
 *     DIR/tables/6f3c1e8a...-0.second                  a fallback: built from an executable
 *     DIR/work/0/                                      what worker 0 fetches and builds
 *     DIR/lock                                         one process at a time
 *
 * A build id has one entry. tables_lookup() finds a table for a generation. If there is no table,
 * one caller starts the build with tables_begin() and the other callers wait. If there are too many
 * bytes or entries, the least recently used are evicted. A table that a caller has looked up stays
 * mapped until the caller releases it, even after an eviction. A table is verified when it is
 * mapped; a corrupt table is removed and built again. Any thread.
 */
#pragma once

#include "base/cancel.h"
#include "elf/build_id.h"
#include "symbols/symbol_table.h"
#include "wire/symbolize.h"

#include <pthread.h>

/* No server could report the generation. */
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
	size_t count;
	struct table_entry **buckets;
	struct table_entry *newest, *oldest;
};

/* ERR_LIMIT: another process uses the directory. */
bool tables_open(struct tables *tables, const char *directory, uint64_t max_bytes,
		 struct err *err) MUST_CHECK;
void tables_close(struct tables *tables);

enum table_state {
	TABLE_READY,    /* `mapped` is the table */
	TABLE_NEGATIVE, /* `reason` is why there is no table */
	TABLE_BUILDING, /* it is being mapped or built: wait */
	TABLE_MISSING,  /* a caller must start the build */
};

struct table_lookup {
	enum table_state state;
	enum name_reason reason;
	struct mapped_table *mapped; /* unless READY: a table of another generation, or NULL */
	bool is_refresh_due;         /* READY, but a better file should be looked for */
};

/* The caller must release `mapped` with tables_release(). May map a table from disk. */
struct table_lookup tables_lookup(struct tables *tables, const struct build_id *id,
				  uint64_t generation);

/* `mapped` may be NULL. */
void tables_release(struct tables *tables, struct mapped_table *mapped);

/* True: the caller must build the table, then call tables_finish(). False: another caller does. */
bool tables_begin(struct tables *tables, const struct build_id *id);

/* The result of a build. */
struct table_result {
	enum name_reason reason; /* NAME_KNOWN: a table was built. NAME_PENDING: nothing was done */
	uint64_t generation;
	const char *file; /* the built table, a path below DIR; tables_finish() moves it */
	bool is_fallback;
	uint64_t ttl_ns; /* how long the reason is cached; 0: FAILED_SECONDS */
};

/* End a build and wake all waiters. False, with the error: the table could not be stored. Then its
 * reason is NAME_TOO_LARGE (ERR_LIMIT) or NAME_UNAVAILABLE. */
bool tables_finish(struct tables *tables, const struct build_id *id,
		   const struct table_result *result, struct err *err);

/* The number of changes so far. tables_wait() blocks until it is no longer `changes`; false: the
 * deadline (CLOCK_MONOTONIC) passed first. */
uint64_t tables_changes(struct tables *tables);
bool tables_wait(struct tables *tables, uint64_t changes, uint64_t deadline_ns);

enum { TABLES_METRICS = 4 };
extern struct metric *const tables_metrics[TABLES_METRICS];
