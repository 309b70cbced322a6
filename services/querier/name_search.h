// SPDX-License-Identifier: Apache-2.0
/*
 * name_search - the names of a merge: from the cache, and for the rest from the source, in bounded
 * pieces and in bounded time.
 *
 * Names never fail a query. Who cannot be asked, or answers nonsense, is left alone for a moment by
 * everybody, and one query alone finds out whether that is over; the others go on without, by what
 * is cached. A binary's cached names are used without asking for NAME_FRESH_MS; then its generation
 * is asked for, and if that is another, so are all its addresses, once more.
 *
 *     struct name_search search = { 0 };
 *     if (name_search_run(&search, &namer, &merge, &bounds, err))
 *             name_merge(&named, &merge, &(struct name_options){ search.names }, err);
 *     ...                     // what borrows from the names
 *     name_search_done(&search);
 */
#pragma once

#include "name_stats.h"
#include "name_wanted.h"
#include "namer.h"

enum { NAME_WARNINGS_MAX = 2 };

/* Of one query, in one thread. */
struct name_search {
	struct name *names; /* by frame of the merge */
	struct name_stats stats;
	str warnings[NAME_WARNINGS_MAX];
	size_t warning_count;
	/* private */
	struct namer *namer;
	struct arena arena; /* of all of it */
	struct memory_share share;
	struct name_list list;
	struct store_bounds bounds;
	uint64_t began_ns;
	size_t grown; /* bytes of the cache, for this query */
	bool is_cut;  /* its own end is nearer than --symbolizer-timeout */
	bool has_failed;
	struct err why;
};

/* False: merge and names take more memory than the answer may (ERR_LIMIT), or nobody waits for it
 * any more. */
bool name_search_run(struct name_search *search, struct namer *namer, struct merge *merge,
		     const struct store_bounds *bounds, struct err *err) MUST_CHECK;
void name_search_done(struct name_search *search);

enum { NAME_SEARCH_METRICS = 3 };
extern struct metric *const name_search_metrics[NAME_SEARCH_METRICS];
