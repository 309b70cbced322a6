// SPDX-License-Identifier: Apache-2.0
/*
 * pair_labels - reads the names and values of label pairs by id, each pair once.
 *
 *     for each series:  pair_labels_request(&labels, day, pairs, count);
 *     pair_labels_load(&labels, bounds, err);
 *     for each series:  pair_labels_of(&labels, pairs, count, &type, &series_labels, err);
 *
 * One thread: that of `pg`.
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
	struct map loaded;    /* id (8 bytes) to struct label; in the caller's arena */
	struct map requested; /* ids in `requests`; the value has no meaning */
	struct arena request_arena;
	VEC(struct pair_request) requests;
};

/* Overwrites *labels. `pg` and `arena`, in which the labels live, are borrowed until
 * pair_labels_done(). Cannot fail. */
void pair_labels_init(struct pair_labels *labels, struct postgres *pg, struct arena *arena);

/* Frees the requests; loaded labels stay valid as long as the arena. */
void pair_labels_done(struct pair_labels *labels);

/* Requests pairs of a series that is stored for the day (days since 1970, UTC). The ids are copied.
 * Pairs that are loaded or requested already are skipped. */
void pair_labels_request(struct pair_labels *labels, int64_t day, const int64_t *pairs,
			 size_t count);

/*
 * Loads the requested pairs; a pair that is not stored is skipped. ERR_IO: PostgreSQL failed;
 * ERR_CANCELLED, ERR_TIMEOUT: the bounds ended. After a failure the requests remain, and some of
 * the pairs are loaded.
 */
bool pair_labels_load(struct pair_labels *labels, const struct store_bounds *bounds,
		      struct err *err) MUST_CHECK;

/* The label with that id, valid as long as the arena. NULL: not loaded, or not stored. */
const struct label *pair_labels_get(const struct pair_labels *labels, int64_t id);

/* For a caller that found a pair missing: sets err to ERR_CORRUPT, "a pair is not stored". Always
 * false. */
bool pair_labels_missing(struct err *err);

/*
 * The type and labels of a series whose pairs were loaded; both live in the arena. ERR_CORRUPT, the
 * only error: a pair is not loaded.
 */
bool pair_labels_of(const struct pair_labels *labels, const int64_t *pairs, size_t count,
		    str *ret_type, struct labels *ret_labels, struct err *err) MUST_CHECK;
