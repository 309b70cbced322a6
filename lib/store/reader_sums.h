// SPDX-License-Identifier: Apache-2.0
/*
 * reader_sums - which sums of whole hours say all that a question asks.
 *
 * For the reader's own files.
 */
#pragma once

#include "store/reader_match.h"
#include "store/rollup.h"

struct reader_sums {
	/* What is needed, without the names of labels that no sample of these days has. */
	struct store_needs needs;
	bool is_fleet; /* sums without instances are enough, whatever the series are */
};

bool reader_sums_look(const struct store_query *query, const struct store_window *window,
		      struct store_reader *reader, struct arena *arena,
		      struct reader_sums *ret_sums, struct err *err) MUST_CHECK;

/* What may stay packed, by the series that were found: of enum chunk_without. */
unsigned int reader_sums_without(const struct reader_sums *sums, const struct found *found);

/* The kinds that say it by series, or by process; none where samples must be read. */
size_t reader_sums_kinds(const struct store_query *query, const struct reader_sums *sums,
			 const struct found *found, int32_t ret_kinds[ROLLUP_KIND_COUNT]);

/* In place of series that were found: the one that all sums without instances are of. */
void reader_sums_fleet(const struct selector *selector, struct found *found);
