// SPDX-License-Identifier: Apache-2.0
/*
 * result - the samples that a request means, merged and with names: what reports are made of.
 *
 *     struct query_result result = { 0 };
 *     bool given = query_result_read(&result, request, &options, err) && write(..., result.merge,
 * ...); query_result_done(&result);
 */
#pragma once

#include "api_request.h"
#include "store/limits.h"
#include "symbol_lookup.h"

struct query_result_options {
	const struct selector *selector;
	const struct group_by *group_by;
	bool keep_addresses; /* else frames with names are functions alone */
	uint64_t memory_max; /* of merges and names */
};

enum { QUERY_RESULT_WARNINGS_MAX = SYMBOL_LOOKUP_WARNINGS_MAX + STORE_GAPS_MAX };

/* It must not move until query_result_done(), and merge borrows from it. */
struct query_result {
	struct merge *merge;
	str warnings[QUERY_RESULT_WARNINGS_MAX]; /* of the answer */
	size_t warning_count;
	struct symbol_lookup lookup;
	struct memory memory; /* of all of it */
	/* private */
	struct merge merges[READERS_MAX]; /* of each connection; then the first is all of them */
	struct arena arenas[READERS_MAX]; /* of each */
	struct merge named;
};

/* Samples of the request's window. What it took is in the request's stats. */
bool query_result_read(struct query_result *result, struct api_request *request,
		       const struct query_result_options *options, struct err *err) MUST_CHECK;

/* Bytes that it holds beside what is in the request's arena. */
size_t query_result_memory_used(const struct query_result *result);

/* Also of one that was read in part, or not at all. */
void query_result_done(struct query_result *result);
