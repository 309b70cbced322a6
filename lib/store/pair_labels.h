// SPDX-License-Identifier: Apache-2.0
/*
 * pair_labels - the labels that pairs stand for, each read once.
 *
 *     for each series:  pair_labels_request(&labels, day, pairs, count);
 *     pair_labels_load(&labels, bounds, err);
 *     for each series:  pair_labels_of(&labels, pairs, count, &type, &series_labels, err);
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "client/postgres.h"
#include "profile/labels.h"
#include "store/store_bounds.h"

struct pair_request {
	int64_t day, id;
};

struct pair_labels {
	/* private */
	struct postgres *pg;
	struct map loaded;    /* 8 bytes of id to struct label, and so the next */
	struct map requested; /* what is requests; the value says nothing */
	struct arena request_arena;
	VEC(struct pair_request) requests;
};

/* Labels live in the arena. */
void pair_labels_init(struct pair_labels *labels, struct postgres *pg, struct arena *arena);
void pair_labels_done(struct pair_labels *labels);

/* The pairs of a series of that day (UTC, since 1970), of which the day has all. */
void pair_labels_request(struct pair_labels *labels, int64_t day, const int64_t *pairs,
			 size_t count);

/* Read what is requests and not known. */
bool pair_labels_load(struct pair_labels *labels, const struct store_bounds *bounds,
		      struct err *err) MUST_CHECK;

/* NULL: it was not loaded. */
const struct label *pair_labels_get(const struct pair_labels *labels, int64_t id);

/* False, with the sentence: a pair is not there. */
bool pair_labels_missing(struct err *err);

/* ERR_INVALID: a pair is not there. */
bool pair_labels_of(const struct pair_labels *labels, const int64_t *pairs, size_t count,
		    str *ret_type, struct labels *ret_labels, struct err *err) MUST_CHECK;
