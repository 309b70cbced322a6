/*
 * shared - what a link is of: found by its id.
 */
#pragma once

#include "name_search.h"
#include "question.h"
#include "store/share.h"

struct shared {
	struct share share;
	struct selector selector; /* of its query */
	struct group_by group_by;
};

/* The row alone. False, and the question knows why: malformed, unknown or expired too. */
bool shared_find(struct question *question, str id, bool with_payload, struct share *ret_share,
		 struct err *err) MUST_CHECK;

/* With its payload, and what its query means; its window becomes the question's. */
bool shared_open(struct shared *shared, struct question *question, str id,
		 struct err *err) MUST_CHECK;
void shared_done(struct shared *shared);

/* Warnings that it was frozen with; returns how many. */
size_t shared_warnings(const struct shared *shared, str warnings[NAME_WARNINGS_MAX]);

enum { SHARED_METRICS = 1, SHARE_METRICS = 2 };
extern struct metric *const shared_metrics[SHARED_METRICS];
extern struct metric *const share_metrics[SHARE_METRICS]; /* of ask_share.c */
