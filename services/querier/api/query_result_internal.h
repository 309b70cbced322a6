// SPDX-License-Identifier: Apache-2.0
/*
 * query_result - the samples that match a request, merged and symbolized: the input of reports.
 *
 *     struct query_result result = { 0 };
 *     bool good = query_result_read(&result, request, &options, err) && write(..., result.merge);
 *     query_result_done(&result);
 *
 * A *merge* ("querier/merge/merge.h") has the sums of samples by stack and group. One thread calls
 * these functions. While samples are read, query_result_read() uses one thread and one merge for
 * each connection, internally.
 */
#pragma once

#include "querier/api/api_request.h"
#include "querier/symbolize/symbol_lookup.h"
#include "store/limits.h"

struct query_result_options {
	const struct selector *selector; /* both are borrowed until query_result_done() */
	const struct group_by *group_by;
	bool keep_addresses; /* false: a symbolized frame has only the function */
	uint64_t memory_max; /* bytes of merges and symbols together */
};

enum { QUERY_RESULT_WARNINGS_MAX = SYMBOL_LOOKUP_WARNINGS_MAX + STORE_GAPS_MAX };

/* Must be zeroed at first, and must not move until query_result_done(). `merge` and `warnings`
 * point into this struct and into the request's arena. */
struct query_result {
	struct merge *merge; /* the result, after a successful query_result_read() */
	str warnings[QUERY_RESULT_WARNINGS_MAX];
	size_t warning_count;
	struct symbol_lookup lookup;
	struct memory memory; /* bytes that all merges and the symbols use */
	/* private */
	struct merge merges[READERS_MAX]; /* one per connection; combined into the first */
	struct arena arenas[READERS_MAX]; /* one for each merge */
	struct merge symbolized;
};

/*
 * Reads the samples of the request's window, merges and symbolizes them. Adds the costs to the
 * request's statistics. Missing symbols are no error, but a warning. ERR_LIMIT: more than
 * memory_max bytes, or a sum of values beyond 64 bits. Other errors: those of
 * api_request_read_samples(), and ERR_CANCELLED if the client closed the connection. The caller
 * must call query_result_done(), on failure as well.
 */
bool query_result_read(struct query_result *result, struct api_request *request,
		       const struct query_result_options *options, struct err *err) MUST_CHECK;

/* Bytes that the result uses beside the request's arena. */
size_t query_result_memory_used(const struct query_result *result);

/* Frees the merges and releases the symbols, once. Accepts a zeroed struct and a struct whose
 * query_result_read() failed. */
void query_result_done(struct query_result *result);
