// SPDX-License-Identifier: Apache-2.0
/*
 * api_request - one request to the API while it is handled: its window, its reader, its statistics.
 *
 * Every handler calls api_request_handle(). api_request_handle() parses the window and the timeout,
 * calls the responder of the endpoint, writes error responses, updates metrics and the log. Texts
 * and arrays are in the arena of `req`, which the server frees after the response. Any thread; one
 * request is handled by one thread.
 */
#pragma once

#include "querier/api/api.h"
#include "querier/api/handlers.h"
#include "querier/api/params_internal.h"
#include "querier/report/query_stats.h"
#include "store/read/sample_reader.h"

struct api_request {
	struct api *api;
	const struct http_request *req;
	struct http_response *res;
	struct window window;
	struct store_bounds bounds; /* the deadline, and the token that a closed connection sets */
	struct store_projection projection; /* set before api_request_read_samples() */
	struct query_stats stats;
	struct store_gap gaps[STORE_GAPS_MAX]; /* of the last api_request_read_samples() */
	size_t gap_count;
	size_t memory_used;      /* peak bytes, if more than the arena of `req` has */
	uint64_t memory_counted; /* in the pool */
};

/*
 * Handles one request completely. Writes `res` in any case. Borrows all arguments during the call.
 */
void api_request_handle(struct api *api, const struct http_request *req, struct http_response *res,
			enum endpoint endpoint, api_responder *respond);

/* The error of store_bounds_check() for the bounds of a struct api_request. For loops that make a
 * response. */
bool api_request_may_continue(const void *request, struct err *err) MUST_CHECK;

/*
 * Acquires a reader with a snapshot of its own. The caller must release it. NULL with the
 * error of pool_acquire().
 */
struct store_reader *api_request_acquire_reader(struct api_request *request,
						struct err *err) MUST_CHECK;

/* Stores the reader's counts in the request's statistics and returns the reader to the pool. */
void api_request_release_reader(struct api_request *request, struct store_reader *reader);

/*
 * Parses the selector in the parameter `name`. The selector is in the request's arena. The caller
 * must call selector_done(), on failure as well; *ret_selector must be zeroed before. ERR_INVALID:
 * missing or malformed.
 */
bool api_request_selector(const struct api_request *request, const char *name,
			  struct selector *ret_selector, struct err *err) MUST_CHECK;

/*
 * Reads the samples of the window that match the selector. `sinks` has one sink for each of
 * --query-connections. Each sink is called by one thread; each sample goes to one sink. Fails as
 * api_request_acquire_reader(), with the error of a sink, or with that of the store; the sinks have
 * received a part of the samples then.
 */
bool api_request_read_samples(struct api_request *request, const struct selector *selector,
			      const struct store_sink *sinks, struct err *err) MUST_CHECK;

/*
 * Writes one warning, in the request's arena, for each gap of the last read. Returns their number.
 */
size_t api_request_warnings(const struct api_request *request, str ret_warnings[STORE_GAPS_MAX]);

/* Appends a header to the response. `name` and `value` are borrowed until the response is sent. */
void api_request_add_header(struct api_request *request, str name, str value);

/* The selectors of the match[] parameters, and a query over the window for each. */
struct match_params {
	struct selector *selectors;
	struct store_query *queries;
	size_t len;
};

/*
 * Parses into `matches`, which must be zeroed; memory is in the request's arena. No parameter
 * match[] is no error: len is 0. ERR_INVALID: a malformed selector, or more than MATCH_PARAMS_MAX.
 * The caller must call match_params_done(), on failure as well.
 */
bool match_params_parse(const struct api_request *request, struct match_params *matches,
			struct err *err) MUST_CHECK;

/* Frees the selectors. Accepts a zeroed struct. */
void match_params_done(struct match_params *matches);

extern struct metric *const api_request_metrics[];
