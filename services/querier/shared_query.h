// SPDX-License-Identifier: Apache-2.0
/*
 * shared - what a link is of: found by its id.
 */
#pragma once

#include "api_request.h"
#include "query_result.h"
#include "store/share.h"

enum { SHARED_QUERY_WARNINGS_MAX = SHARE_SIDES_MAX * QUERY_RESULT_WARNINGS_MAX };

struct shared_query {
	struct share share;
	struct selector selectors[SHARE_SIDES_MAX]; /* of its sides' queries */
	struct group_by group_by;
};

/* The row alone. False, and the request knows why: malformed, unknown or expired too. */
bool shared_query_find(struct api_request *request, str id, bool with_payload,
		       struct share *ret_share, struct err *err) MUST_CHECK;

/* What its queries and groups mean. Those of a comparison must be of one profile type. */
bool shared_query_parse(struct shared_query *shared, struct arena *arena,
			struct err *err) MUST_CHECK;

/* With its payload, and what it means. */
bool shared_query_open(struct shared_query *shared, struct api_request *request, str id,
		       struct err *err) MUST_CHECK;
void shared_query_done(struct shared_query *shared);

/* What was asked of it is wrong, not what was read: 400 with this sentence. */
bool shared_query_reject(struct api_request *request, struct err *err,
			 const char *sentence) MUST_CHECK;

/* One side's window becomes the request's. */
void shared_query_use_window(const struct shared_query *shared, size_t side,
			     struct api_request *request);

/* One side of a frozen one, into a merge of merge_init() that nothing was put in. */
bool shared_query_read_frozen(const struct shared_query *shared, size_t side, struct merge *merge,
			      struct err *err) MUST_CHECK;

/* Warnings that it was frozen with; returns how many. */
size_t shared_query_warnings(const struct shared_query *shared,
			     str warnings[SHARED_QUERY_WARNINGS_MAX]);

enum { SHARED_QUERY_METRICS = 1 };
extern struct metric *const shared_query_metrics[SHARED_QUERY_METRICS];
