// SPDX-License-Identifier: Apache-2.0
/*
 * symbol_lookup - finds the symbols for the addresses of a merge: in the cache, and the remainder
 * at the source, in requests of bounded size and within a time limit.
 *
 * Missing symbols never fail a query. If the source fails or its response is malformed, all queries
 * continue with the cache alone, and pause requests ("querier/symbolize/symbolization.h"). Cached
 * symbols of a binary are used for SYMBOLS_FRESH_MS without a request. After that the next lookup
 * requests the generation (version of the debug file); if it changed, the lookup requests all its
 * addresses of that binary again.
 *
 *     struct symbol_lookup lookup = { 0 };
 *     if (symbol_lookup_run(&lookup, &symbolization, &merge, &bounds, err))
 *             symbolize_merge(&named, &merge, &(struct symbolize_options){ lookup.resolved }, err);
 *     ...                     // uses of `named`, which borrows from the symbols
 *     symbol_lookup_done(&lookup);
 */
#pragma once

#include "querier/symbolize/lookup_addresses_internal.h"
#include "querier/symbolize/symbolization.h"

/* Counts of one lookup, reported with each response and in the metrics. */
struct symbol_lookup_stats {
	uint64_t addresses; /* addresses that need symbols */
	uint64_t cached;    /* of these addresses: found without a request */
	uint64_t requested; /* sent to the source; twice if a debug file changed meanwhile */
	uint64_t requests;
	uint64_t symbolized, unsymbolized[NAME_REASON_COUNT]; /* numbers of addresses */
	uint64_t ns;                                          /* duration */
	bool is_enabled; /* there is a source; false: the other members are 0 */
};

enum { SYMBOL_LOOKUP_WARNINGS_MAX = 2 };

/* Belongs to one query, in one thread. A zeroed struct is valid for symbol_lookup_done(). */
struct symbol_lookup {
	struct address_lines *resolved; /* by index of the merge's frames */
	struct symbol_lookup_stats stats;
	str warnings[SYMBOL_LOOKUP_WARNINGS_MAX];
	size_t warning_count;
	/* private */
	struct symbolization *symbolization;
	struct arena arena; /* of everything here */
	struct memory_part memory;
	struct lookup_addresses addresses;
	struct store_bounds bounds;
	uint64_t began_ns;
	size_t grown;      /* bytes by which this lookup grew the cache */
	bool is_shortened; /* half of the time left is less than --symbolizer-timeout */
	bool has_failed;
	struct err why;
};

/*
 * Finds the symbols of the merge; counts as a part of the merge's memory. `resolved` and the
 * warnings stay valid until symbol_lookup_done(), which must be called on failure as well.
 * `symbolization`, `merge` and the token of `bounds` must outlive the lookup. A failure of the
 * source is no error, but a warning. ERR_LIMIT: merge and symbols use more memory than the merge
 * may. ERR_CANCELLED: the client closed the connection.
 */
bool symbol_lookup_run(struct symbol_lookup *lookup, struct symbolization *symbolization,
		       struct merge *merge, const struct store_bounds *bounds,
		       struct err *err) MUST_CHECK;

/* Releases the cached binaries and frees the memory, once. */
void symbol_lookup_done(struct symbol_lookup *lookup);

extern struct metric *const symbol_lookup_metrics[];
