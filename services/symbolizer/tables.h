// SPDX-License-Identifier: Apache-2.0
/*
 * tables - the tables of names that this process has: on disk, mapped, or known not to be had.
 *
 *     DIR/tables/6f3c1e8a...-1787479200123.table       of a debug file of that generation
 *     DIR/tables/6f3c1e8a...-0.second                  of an executable: a debug file is better
 *     DIR/work/0/                                      what the worker 0 fetches and builds
 *     DIR/lock                                         one process at a time
 *
 * A build id has one entry. A look at it says whether there is a table that holds for a generation;
 * if not, one of the callers begins the work, the others wait for it. The least recently used go
 * first when there are too many bytes; who has taken a table keeps it mapped until it is given
 * back. A table is checked when it is mapped; one that is spoiled goes, and is built again. Any
 * thread.
 */
#pragma once

#include "base/stop.h"
#include "object/build_id.h"
#include "object/symbol_table.h"
#include "profile/symbolize.h"

#include <pthread.h>

/* Nobody could say which. */
#define GENERATION_UNKNOWN UINT64_MAX

struct mapped_table {
	struct symbol_table symbols;
	uint64_t generation;
	bool is_fallback;
	/* private */
	unsigned int references; /* under the lock */
};

struct tables {
	/* private, under the lock but for the directories and max_bytes */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int root, directory; /* -1: closed */
	int lock_file;
	uint64_t max_bytes, bytes, changes;
	size_t count;
	struct table_entry **buckets;
	struct table_entry *newest, *oldest;
};

/* ERR_LIMIT: another process has the directory. */
bool tables_open(struct tables *tables, const char *directory, uint64_t max_bytes,
		 struct err *err) MUST_CHECK;
void tables_close(struct tables *tables);

enum table_state {
	TABLE_READY,    /* mapped is the one */
	TABLE_NEGATIVE, /* reason is why there is none */
	TABLE_BUILDING, /* somebody is at it: wait */
	TABLE_MISSING,  /* somebody must begin */
};

struct table_lookup {
	enum table_state state;
	enum name_reason reason;
	struct mapped_table
		*mapped;     /* if not ready: one of another generation, or NULL; give it back */
	bool is_refresh_due; /* ready, but worth to be sought again */
};

struct table_lookup tables_lookup(struct tables *tables, const struct build_id *id,
				  uint64_t generation);
void tables_release(struct tables *tables, struct mapped_table *mapped);

/* Whether it is the caller's to do it, and then to call tables_finish(). */
bool tables_begin(struct tables *tables, const struct build_id *id);

/* What the work came to. */
struct table_result {
	enum name_reason reason; /* NAME_KNOWN: there is a table. NAME_PENDING: nothing was done */
	uint64_t generation;
	const char *file; /* the table, below DIR; it is moved */
	bool is_fallback;
	uint64_t ttl_ns; /* how long a reason holds */
};

/* False: the table could not be kept; then that is the result (err). */
bool tables_finish(struct tables *tables, const struct build_id *id,
		   const struct table_result *result, struct err *err);

/* A count of what has finished, and a wait until it is another one. False: the deadline. */
uint64_t tables_changes(struct tables *tables);
bool tables_wait(struct tables *tables, uint64_t changes, uint64_t deadline_ns);

enum { TABLES_METRICS = 4 };
extern struct metric *const tables_metrics[TABLES_METRICS];
