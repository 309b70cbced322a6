// SPDX-License-Identifier: Apache-2.0
/*
 * shared_query - a stored share ("store/share.h": a query with a link of its own) that a request
 * refers to, with its parsed queries.
 *
 * A zeroed struct is valid; shared_query_done() frees it, after a failure as well. One thread for
 * each request.
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
 * Reads the row of a share. Texts are in the request's arena. ERR_NOT_FOUND: the id is malformed or
 * unknown. ERR_EXPIRED: the share has expired. Other errors: those of the reader.
 */
bool shared_query_find(struct api_request *request, str id, bool with_payload,
		       struct share *ret_share, struct err *err) MUST_CHECK;

/* Parses the queries and the groups of shared->share. Selectors are in the arena. ERR_INVALID: a
 * selector or group_by is malformed, or the sides of a comparison have different profile types. */
bool shared_query_parse(struct shared_query *shared, struct arena *arena,
			struct err *err) MUST_CHECK;

/* shared_query_find() with the payload, then shared_query_parse(), with the errors of both; a
 * stored query that is malformed is ERR_CORRUPT. */
bool shared_query_open(struct shared_query *shared, struct api_request *request, str id,
		       struct err *err) MUST_CHECK;

/* Frees the selectors. */
void shared_query_done(struct shared_query *shared);

/* Sets the window of the request to the window of one side (0 or 1). */
void shared_query_use_window(const struct shared_query *shared, size_t side,
			     struct api_request *request);

/* Decodes the frozen result of one side (0 or 1) into an empty merge, after merge_init().
 * ERR_CORRUPT: malformed. ERR_LIMIT as frozen_read(). The merge borrows from the share. */
bool shared_query_read_frozen(const struct shared_query *shared, size_t side, struct merge *merge,
			      struct err *err) MUST_CHECK;

/* The warnings that were stored with a frozen result, borrowed from the share. Returns their
 * number. */
size_t shared_query_warnings(const struct shared_query *shared,
			     str warnings[SHARED_QUERY_WARNINGS_MAX]);

extern struct metric *const shared_query_metrics[];
