// SPDX-License-Identifier: Apache-2.0
/*
 * pair_labels - reads the names and values of label pairs by id, each once.
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
	struct map loaded;    /* id, 8 bytes, to struct label */
	struct map requested; /* ids in `requests`; the value has no meaning */
	struct arena request_arena;
	VEC(struct pair_request) requests;
};

/* Labels live in the arena. */
void pair_labels_init(struct pair_labels *labels, struct postgres *pg, struct arena *arena);
void pair_labels_done(struct pair_labels *labels);

/* Requests pairs of a series. All of them must be stored for the day (since 1970, UTC). */
void pair_labels_request(struct pair_labels *labels, int64_t day, const int64_t *pairs,
			 size_t count);

/* Reads the requested pairs that are not loaded yet. */
bool pair_labels_load(struct pair_labels *labels, const struct store_bounds *bounds,
		      struct err *err) MUST_CHECK;

/* NULL: not loaded. */
const struct label *pair_labels_get(const struct pair_labels *labels, int64_t id);

/* Sets the error for a pair that is not stored; returns false. */
bool pair_labels_missing(struct err *err);

/* The type and labels of a series. ERR_INVALID: a pair is not stored. */
bool pair_labels_of(const struct pair_labels *labels, const int64_t *pairs, size_t count,
		    str *ret_type, struct labels *ret_labels, struct err *err) MUST_CHECK;
