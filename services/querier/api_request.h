// SPDX-License-Identifier: Apache-2.0
/*
 * request - a request to the API on its way to an answer: its window, a reader, what it took.
 *
 * Every request goes through api_request_handle(): one place for the window, for refusals and for
 * the books. Each ask_*.c holds the answers to one kind. Any thread.
 */
#pragma once

#include "api.h"
#include "params.h"
#include "query_stats.h"

/* What is asked for, for the metrics. */
enum endpoint {
	ENDPOINT_LABELS,
	ENDPOINT_LABEL_VALUES,
	ENDPOINT_PROFILE_TYPES,
	ENDPOINT_SERIES,
	ENDPOINT_QUERY,
	ENDPOINT_QUERY_RANGE,
	ENDPOINT_DIFF,
	ENDPOINT_FLEET,
	ENDPOINT_SHARE,
	ENDPOINT_SHARED,
	ENDPOINT_LINK,
	ENDPOINT_COUNT,
};

struct api_request {
	struct api *api;
	const struct http_request *req;
	struct http_response *res;
	struct window window;
	struct store_bounds bounds; /* --query-timeout, and while the client waits */
	struct store_needs needs;   /* set before reading */
	bool has_read;              /* it has had a reader: what is invalid now is ours */
	bool is_unknown, is_gone;   /* why it is refused: there is no such thing, or no more */
	struct query_stats stats;
	struct store_gap gaps[STORE_GAPS_MAX]; /* of what was read last */
	size_t gap_count;
	size_t memory_used; /* most bytes of it, where that is more than the request's arena */
};

/* False: refused; the error's code says with which status. */
typedef bool api_responder(struct api_request *request, struct err *err);

void api_request_handle(struct api *api, const struct http_request *req, struct http_response *res,
			enum endpoint endpoint, api_responder *respond);

/* A reader with a snapshot of its own; NULL with a sentence. What it read goes into the stats. */
struct store_reader *api_request_acquire_reader(struct api_request *request,
						struct err *err) MUST_CHECK;
void api_request_release_reader(struct api_request *request, struct store_reader *reader);

/* The parameter `query`, or of another name. Give it to selector_done(), also where it was refused.
 */
bool api_request_selector(const struct api_request *request, const char *name,
			  struct selector *ret_selector, struct err *err) MUST_CHECK;

/*
 * Samples of the window that the selector means, into sinks: one for each of --query-connections,
 * each called by one thread, a sample to one of them.
 */
bool api_request_read_samples(struct api_request *request, const struct selector *selector,
			      const struct store_sink *sinks, struct err *err) MUST_CHECK;

/* What is to be said of the gaps; returns how many sentences. */
size_t api_request_warnings(const struct api_request *request, str ret_warnings[STORE_GAPS_MAX]);

void api_request_add_header(struct api_request *request, str name, str value);

/* The match[] parameters: alternatives, each with the window. */
struct match_params {
	struct selector *selectors;
	struct store_query *queries;
	size_t len;
};
bool match_params_parse(const struct api_request *request, struct match_params *matches,
			struct err *err) MUST_CHECK;
void match_params_done(struct match_params *matches);

enum { API_REQUEST_METRICS = 9 };
extern struct metric *const api_request_metrics[API_REQUEST_METRICS];
