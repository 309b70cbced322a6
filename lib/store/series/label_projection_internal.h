// SPDX-License-Identifier: Apache-2.0
/*
 * label_projection - reads the labels of stored series, but only labels whose names a query needs.
 *
 * A stored series has an array of ids of label pairs (name and value). To load a pair is to read
 * its name and value from PostgreSQL by its id, which costs some microseconds. The id does not
 * reveal the name. But series with the same number of pairs (the same shape) mostly have the same
 * names at the same positions of their arrays. So the first series of each shape are loaded whole,
 * to learn the positions of the needed names; of the other series only the pairs at these positions
 * are loaded. If a needed name is not at its positions, all pairs of the series are loaded. Names
 * that no series of the query's days has are dropped from the projection.
 *
 *     label_projection_init(&projection, pg, arena);
 *     good = label_projection_limit(&projection, names, count, days, err);  (or: all labels)
 *     good = label_projection_load(&projection, series, count, bounds, err);
 *     for each:  good = label_projection_of(&projection, &series[i], &type, &labels, err);
 *     label_projection_done(&projection);
 *
 * One thread: that of `pg`.
 */
#pragma once

#include "profile/limits.h"
#include "store/series/pair_labels_internal.h"

/* A row of the table `series`. */
struct stored_series {
	uint64_t id;
	int64_t day;          /* days since 1970, UTC */
	const int64_t *pairs; /* ids of the label pairs of the series */
	size_t count;
};

enum {
	/* A shape is the number of pairs modulo this: rows of other programs may have more. */
	PROJECTION_SHAPES = LABELS_MAX + 2,
	PROJECTION_EXAMPLES = 8, /* series of each shape that are loaded whole */
};

struct label_projection {
	bool is_limited;  /* true: only labels with the names below; false: all labels */
	const str *names; /* in the arena */
	size_t name_count;
	/* private */
	struct arena *arena; /* of the caller */
	struct pair_labels labels;
	/* By shape and name; bit i: the name was seen at pairs[i]. Positions from 64 on are not
	 * learned. */
	uint64_t *positions;
	uint64_t examples[PROJECTION_SHAPES]; /* by shape: series passed to _load() so far */
};

/*
 * Starts a projection to all labels; overwrites *projection. `pg` and `arena` are borrowed until
 * label_projection_done(). Cannot fail.
 */
void label_projection_init(struct label_projection *projection, struct postgres *pg,
			   struct arena *arena);

/* Frees the memory that is not in the arena; labels stay valid. Call it also after a failure. */
void label_projection_done(struct label_projection *projection);

/*
 * Limits the projection to these names, which are copied. Optional; call it once, before the first
 * label_projection_load(). days: first and last, inclusive, of the series. ERR_IO: PostgreSQL
 * failed; call only label_projection_done() afterwards.
 */
bool label_projection_limit(struct label_projection *projection, const str *names, size_t count,
			    const struct postgres_param days[2], struct err *err) MUST_CHECK;

/*
 * Loads the pairs that label_projection_of() needs for these series, except pairs that are loaded
 * already. The series are borrowed during the call. ERR_IO: PostgreSQL failed. ERR_CANCELLED,
 * ERR_TIMEOUT: the bounds ended. Pairs that are not stored are no error here.
 */
bool label_projection_load(struct label_projection *projection, const struct stored_series *series,
			   size_t count, const struct store_bounds *bounds,
			   struct err *err) MUST_CHECK;

/*
 * The labels of a series that was passed to label_projection_load(); both results live in the
 * arena. If the projection is limited, *ret_type is always empty. ERR_CORRUPT, the only error: a
 * pair of the series is not stored.
 */
bool label_projection_of(const struct label_projection *projection,
			 const struct stored_series *series, str *ret_type,
			 struct labels *ret_labels, struct err *err) MUST_CHECK;
