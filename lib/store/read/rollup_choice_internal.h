// SPDX-License-Identifier: Apache-2.0
/*
 * rollup_choice - which rollups suffice for a query, and which columns it can skip.
 *
 * A rollup has sums of whole hours or days; for many queries they suffice, and are faster to read
 * than samples ("store/compact/rollup.h" lists the kinds). For the sample reader only; one thread:
 * that of the reader.
 */
#pragma once

#include "store/compact/rollup.h"
#include "store/read/query_needs_internal.h"
#include "store/series/series_find.h"

struct rollup_choice {
	struct query_needs needs;
	/* The names of the projection that samples of the window's days have as labels of their
	 * own. Texts are borrowed from the query. */
	const str *label_names;
	size_t label_count;
	bool is_fleet; /* sums without instances suffice for whole hours */
};

/*
 * Decides by the query and the names of sample labels, before series are found. Arrays live in the
 * arena. ERR_IO: PostgreSQL failed.
 */
bool rollup_choice_make(const struct store_query *query, const struct store_window *window,
			struct store_reader *reader, struct arena *arena,
			struct rollup_choice *ret_choice, struct err *err) MUST_CHECK;

/* The columns that can be skipped, given the matched series: flags of enum chunk_without. */
unsigned int rollup_choice_without(const struct rollup_choice *choice,
				   const struct matched_series *matched);

/* Sets the kinds of sums, by series or by process, that suffice for whole hours. Returns the number
 * of kinds; 0: samples must be read. Cannot fail. */
size_t rollup_choice_kinds(const struct store_query *query, const struct rollup_choice *choice,
			   const struct matched_series *matched,
			   int32_t ret_kinds[ROLLUP_KIND_COUNT]);

/* Adds the one series to which all sums without instances belong to `matched`, of which only the
 * arena is set. All matchers are open for this series. Cannot fail. */
void rollup_choice_fleet(const struct selector *selector, struct matched_series *matched);
