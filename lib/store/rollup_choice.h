// SPDX-License-Identifier: Apache-2.0
/*
 * rollup_choice - which sums of whole hours say all that a question asks.
 *
 * For the reader's own files.
 */
#pragma once

#include "store/query_match.h"
#include "store/rollup.h"
#include "store/store_query.h"

struct rollup_choice {
	/* What is needed, without the names of labels that no sample of these days has. */
	struct store_needs needs;
	bool is_fleet; /* sums without instances are enough, whatever the series are */
};

bool rollup_choice_make(const struct store_query *query, const struct store_window *window,
			struct store_reader *reader, struct arena *arena,
			struct rollup_choice *ret_sums, struct err *err) MUST_CHECK;

/* What may stay packed, by the series that were found: of enum chunk_without. */
unsigned int rollup_choice_without(const struct rollup_choice *sums,
				   const struct matched_series *matched);

/* The kinds that say it by series, or by process; none where samples must be read. */
size_t rollup_choice_kinds(const struct store_query *query, const struct rollup_choice *sums,
			   const struct matched_series *matched,
			   int32_t ret_kinds[ROLLUP_KIND_COUNT]);

/* In place of series that were found: the one that all sums without instances are of. */
void rollup_choice_fleet(const struct selector *selector, struct matched_series *matched);
