// SPDX-License-Identifier: Apache-2.0
/*
 * found - the samples that a question means, merged and with names: what reports are made of.
 *
 *     struct found found = { 0 };
 *     bool given = found_read(&found, question, &options, err) && write(..., found.merge, ...);
 *     found_done(&found);
 */
#pragma once

#include "name_search.h"
#include "question.h"
#include "store/limits.h"

struct found_options {
	const struct selector *selector;
	const struct group_by *group_by;
	bool keep_addresses; /* else frames with names are functions alone */
	uint64_t memory_max; /* of merges and names */
};

enum { FOUND_WARNINGS_MAX = NAME_WARNINGS_MAX + STORE_GAPS_MAX };

/* It must not move until found_done(), and merge borrows from it. */
struct found {
	struct merge *merge;
	str warnings[FOUND_WARNINGS_MAX]; /* of the answer */
	size_t warning_count;
	struct name_search search;
	struct memory memory; /* of all of it */
	/* private */
	struct merge merges[READERS_MAX]; /* of each connection; then the first is all of them */
	struct arena arenas[READERS_MAX]; /* of each */
	struct merge named;
};

/* Samples of the question's window. What it took is in the question's stats. */
bool found_read(struct found *found, struct question *question, const struct found_options *options,
		struct err *err) MUST_CHECK;

/* Bytes that it holds beside what is in the request's arena. */
size_t found_held(const struct found *found);

/* Also of one that was read in part, or not at all. */
void found_done(struct found *found);
