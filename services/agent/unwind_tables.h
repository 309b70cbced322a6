/*
 * unwind_tables - which executables' tables are in the kernel, and which must leave.
 *
 * A table is wanted when a process that maps its file is sampled, asked for in the order of how
 * many samples want it, loaded when there is room, and leaves for another when it was sampled the
 * longest time ago. Agent thread only.
 */
#pragma once

#include "executable.h"
#include "unwind_source.h"
#include "unwind_store.h"

struct executable_set {
	struct executable **items;
	size_t len, cap;
};

struct unwind_tables {
	uint64_t pages;                              /* that loaded tables have */
	uint64_t loads, evictions, refused;          /* cumulative */
	uint64_t outcomes[UNWIND_OUTCOME_COUNT];     /* cumulative: of what was asked for */
	struct executable_set loaded, wanted, there; /* read their .len */
	bool changed; /* tables came or left; who writes lists sets it back */
	/* private */
	struct unwind_store *store;
	struct executable_cache *executables;
	struct unwind_source source;
	struct executable_set held; /* files kept open, for when they are wanted */
	size_t asked;
	uint64_t opened;  /* of those: a count */
	bool is_awaiting; /* pages that were given back, and rest */
};

void unwind_tables_init(struct unwind_tables *tables, struct unwind_store *store,
			struct executable_cache *executables, const struct unwind_source *source);
void unwind_tables_done(struct unwind_tables *tables);

/* Of each file when it is first mapped, and when it leaves the cache of executables. */
struct executable_sink unwind_tables_sink(struct unwind_tables *tables);

/* Who maps it: where the file is found should it not be open any more. */
struct unwind_mapper {
	uint32_t pid, parent_pid;
	uint64_t start, end; /* of a mapping of it */
};

void unwind_tables_want(struct unwind_tables *tables, struct executable *executable,
			const struct unwind_mapper *mapper, uint64_t now_ns);

/* Once a round, after unwind_store_round(): take what was asked for, load it, ask for more. */
void unwind_tables_round(struct unwind_tables *tables, uint64_t now_ns);

/* Let tables leave until so many pages will be free. False: those that are there are in use. */
bool unwind_tables_make_room(struct unwind_tables *tables, uint32_t pages, uint64_t now_ns);

/* Now and then: let files go that nobody maps. */
void unwind_tables_let_go(struct unwind_tables *tables);
