// SPDX-License-Identifier: Apache-2.0
/*
 * rollup_choice - which rollups suffice for a query, and which columns it can skip.
 *
 * For the sample reader only.
 */
#pragma once

#include "store/compact/rollup.h"
#include "store/read/query_match_internal.h"
#include "store/read/store_query.h"

struct rollup_choice {
	/* The projection, without label names that no sample of these days has. */
	struct store_projection projection;
	bool is_fleet; /* sums without instances suffice */
};

/* Decides by the query alone, before series are found. */
bool rollup_choice_make(const struct store_query *query, const struct store_window *window,
			struct store_reader *reader, struct arena *arena,
			struct rollup_choice *ret_choice, struct err *err) MUST_CHECK;

/* The columns that can be skipped, given the matched series: of enum chunk_without. */
unsigned int rollup_choice_without(const struct rollup_choice *choice,
				   const struct matched_series *matched);

/* The kinds of sums by series or process that suffice. Returns their count; 0: read samples. */
size_t rollup_choice_kinds(const struct store_query *query, const struct rollup_choice *choice,
			   const struct matched_series *matched,
			   int32_t ret_kinds[ROLLUP_KIND_COUNT]);

/* Replaces the matched series with the one series of all sums without instances. */
void rollup_choice_fleet(const struct selector *selector, struct matched_series *matched);
