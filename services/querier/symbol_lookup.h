// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_lookup - the names of a merge: from the cache, and for the rest from the source, in
 * bounded pieces and in bounded time.
 *
 * Names never fail a query. Who cannot be asked, or answers nonsense, is left alone for a moment by
 * everybody, and one query alone finds out whether that is over; the others go on without, by what
 * is cached. A binary's cached names are used without asking for SYMBOLS_FRESH_MS; then its
 * generation is asked for, and if that is another, so are all its addresses, once more.
 *
 *     struct symbol_lookup lookup = { 0 };
 *     if (symbol_lookup_run(&lookup, &symbolization, &merge, &bounds, err))
 *             symbolize_merge(&named, &merge, &(struct symbolize_options){ lookup.resolved }, err);
 *     ...                     // what borrows from the names
 *     symbol_lookup_done(&lookup);
 */
#pragma once

#include "lookup_addresses.h"
#include "symbolization.h"

/* How an answer came by its names: with every answer, and in the metrics. */
struct symbol_lookup_stats {
	uint64_t addresses; /* of binaries, that want names */
	uint64_t cached;    /* of these, known without asking */
	uint64_t asked;     /* asked for; twice, where a debug file is another than it was */
	uint64_t requests;
	uint64_t named, unnamed[NAME_REASON_COUNT]; /* of addresses */
	uint64_t ns;                                /* that it took */
	bool is_enabled; /* there is somebody to ask, and the rest says how it went */
};

enum { SYMBOL_LOOKUP_WARNINGS_MAX = 2 };

/* Of one query, in one thread. */
struct symbol_lookup {
	struct address_lines *resolved; /* by frame of the merge */
	struct symbol_lookup_stats stats;
	str warnings[SYMBOL_LOOKUP_WARNINGS_MAX];
	size_t warning_count;
	/* private */
	struct symbolization *symbolization;
	struct arena arena; /* of all of it */
	struct memory_part memory;
	struct lookup_addresses addresses;
	struct store_bounds bounds;
	uint64_t began_ns;
	size_t grown;      /* bytes of the cache, for this query */
	bool is_shortened; /* its own end is nearer than --symbolizer-timeout */
	bool has_failed;
	struct err why;
};

/* False: merge and names take more memory than the answer may (ERR_LIMIT), or nobody waits for it
 * any more. */
bool symbol_lookup_run(struct symbol_lookup *lookup, struct symbolization *symbolization,
		       struct merge *merge, const struct store_bounds *bounds,
		       struct err *err) MUST_CHECK;
void symbol_lookup_done(struct symbol_lookup *lookup);

enum { SYMBOL_LOOKUP_METRICS = 3 };
extern struct metric *const symbol_lookup_metrics[SYMBOL_LOOKUP_METRICS];
