// SPDX-License-Identifier: Apache-2.0
/*
 * shared_query - a stored share (store/share.h) that a request refers to, with its parsed queries.
 */
#pragma once

#include "querier/api/api_request.h"
#include "querier/api/query_result_internal.h"
#include "store/share.h"

enum { SHARED_QUERY_WARNINGS_MAX = SHARE_SIDES_MAX * QUERY_RESULT_WARNINGS_MAX };

struct shared_query {
	struct share share;
	struct selector selectors[SHARE_SIDES_MAX]; /* of its sides' queries */
	struct group_by group_by;
};

/*
 * Read the row of a share. Texts live in the request's arena. ERR_NOT_FOUND: the id is malformed or
 * unknown, or the share has expired; then is_unknown or is_gone of the request is set.
 */
bool shared_query_find(struct api_request *request, str id, bool with_payload,
		       struct share *ret_share, struct err *err) MUST_CHECK;

/* Parse the queries and the groups of `share`. ERR_INVALID as well: the sides of a comparison have
 * different profile types. */
bool shared_query_parse(struct shared_query *shared, struct arena *arena,
			struct err *err) MUST_CHECK;

/* Find with payload, and parse. */
bool shared_query_open(struct shared_query *shared, struct api_request *request, str id,
		       struct err *err) MUST_CHECK;
void shared_query_done(struct shared_query *shared);

/* Always false. Fails with 400 and this sentence: the request does not fit the share, although the
 * share itself was read without an error. */
bool shared_query_reject(struct api_request *request, struct err *err,
			 const char *sentence) MUST_CHECK;

/* Set the window of the request to that of one side. */
void shared_query_use_window(const struct shared_query *shared, size_t side,
			     struct api_request *request);

/* Decode the frozen result of one side into an empty merge, after merge_init(). */
bool shared_query_read_frozen(const struct shared_query *shared, size_t side, struct merge *merge,
			      struct err *err) MUST_CHECK;

/* The warnings that were stored with a frozen result; returns their number. */
size_t shared_query_warnings(const struct shared_query *shared,
			     str warnings[SHARED_QUERY_WARNINGS_MAX]);

enum { SHARED_QUERY_METRICS = 1 };
extern struct metric *const shared_query_metrics[SHARED_QUERY_METRICS];
