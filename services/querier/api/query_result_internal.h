// SPDX-License-Identifier: Apache-2.0
/*
 * query_result - the samples that match a request, merged and symbolized: the input of reports.
 *
 *     struct query_result result = { 0 };
 *     bool good = query_result_read(&result, request, &options, err) && write(..., result.merge);
 *     query_result_done(&result);
 *
 * One thread, except that each connection fills its own merge while samples are read.
 */
#pragma once

#include "querier/api/api_request.h"
#include "querier/symbolize/symbol_lookup.h"
#include "store/limits.h"

struct query_result_options {
	const struct selector *selector;
	const struct group_by *group_by;
	bool keep_addresses; /* false: a symbolized frame is only a function */
	uint64_t memory_max; /* bytes of merges and symbols */
};

enum { QUERY_RESULT_WARNINGS_MAX = SYMBOL_LOOKUP_WARNINGS_MAX + STORE_GAPS_MAX };

/* Must not move until query_result_done(). `merge` and `warnings` borrow from it and from the
 * request's arena. */
struct query_result {
	struct merge *merge;
	str warnings[QUERY_RESULT_WARNINGS_MAX];
	size_t warning_count;
	struct symbol_lookup lookup;
	struct memory memory; /* of all its parts */
	/* private */
	struct merge merges[READERS_MAX]; /* one per connection; then the first is their sum */
	struct arena arenas[READERS_MAX]; /* of each */
	struct merge symbolized;
};

/* Read the samples of the request's window. Counts go into the request's statistics. ERR_LIMIT:
 * more than memory_max bytes, or a sum beyond 64 bits. */
bool query_result_read(struct query_result *result, struct api_request *request,
		       const struct query_result_options *options, struct err *err) MUST_CHECK;

/* Bytes outside of the request's arena. */
size_t query_result_memory_used(const struct query_result *result);

/* Accepts a result that is zero, or whose read failed. */
void query_result_done(struct query_result *result);
