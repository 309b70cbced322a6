// SPDX-License-Identifier: Apache-2.0
/*
 * shared - what a link is of: found by its id.
 */
#pragma once

#include "found.h"
#include "question.h"
#include "store/share.h"

enum { SHARED_WARNINGS_MAX = SHARE_SIDES_MAX * FOUND_WARNINGS_MAX };

struct shared {
	struct share share;
	struct selector selectors[SHARE_SIDES_MAX]; /* of its sides' queries */
	struct group_by group_by;
};

/* The row alone. False, and the question knows why: malformed, unknown or expired too. */
bool shared_find(struct question *question, str id, bool with_payload, struct share *ret_share,
		 struct err *err) MUST_CHECK;

/* What its queries and groups mean. Those of a comparison must be of one profile type. */
bool shared_parse(struct shared *shared, struct arena *arena, struct err *err) MUST_CHECK;

/* With its payload, and what it means. */
bool shared_open(struct shared *shared, struct question *question, str id,
		 struct err *err) MUST_CHECK;
void shared_done(struct shared *shared);

/* What was asked of it is wrong, not what was read: 400 with this sentence. */
bool shared_refuse(struct question *question, struct err *err, const char *sentence) MUST_CHECK;

/* One side's window becomes the question's. */
void shared_look_at(const struct shared *shared, size_t side, struct question *question);

/* One side of a frozen one, into a merge of merge_init() that nothing was put in. */
bool shared_thaw(const struct shared *shared, size_t side, struct merge *merge,
		 struct err *err) MUST_CHECK;

/* Warnings that it was frozen with; returns how many. */
size_t shared_warnings(const struct shared *shared, str warnings[SHARED_WARNINGS_MAX]);

enum { SHARED_METRICS = 1, SHARE_METRICS = 2 };
extern struct metric *const shared_metrics[SHARED_METRICS];
extern struct metric *const share_metrics[SHARE_METRICS]; /* of ask_share.c */
