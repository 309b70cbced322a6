// SPDX-License-Identifier: Apache-2.0
/*
 * label_projection - reads only the labels of series that a query needs, given the ids of pairs.
 *
 * The id of a pair does not reveal its name, and each lookup costs some microseconds. If only some
 * names are needed, most pairs should not be looked up. Series with the same number of pairs (the
 * same shape) mostly have the same names at the same positions: a name is therefore looked up at
 * the positions where other series of the shape have it, and all pairs of a series are read if it
 * is not there. Names that no series of these days has are not looked up.
 *
 *     label_projection_init(&projection, pg, arena);
 *     label_projection_limit(&projection, names, count, days, err);
 *     label_projection_load(&projection, series, count, bounds, err);
 *     for each:  label_projection_of(&projection, &series[i], &type, &labels, err);
 */
#pragma once

#include "profile/limits.h"
#include "store/series/pair_labels_internal.h"

/* A row of the table `series`. */
struct stored_series {
	uint64_t id;
	int64_t day; /* UTC, since 1970 */
	const int64_t *pairs;
	size_t count;
};

enum {
	PROJECTION_SHAPES = LABELS_MAX + 2, /* by number of pairs, modulo this */
	PROJECTION_EXAMPLES =
		8, /* series of each shape that are read whole, to learn the positions of names */
};

struct label_projection {
	bool is_limited; /* to the names below; else all labels */
	const str *names;
	size_t name_count;
	/* private */
	struct arena *arena;
	struct pair_labels labels;
	uint64_t *positions;                  /* by shape and name; bit i: seen at pairs[i] */
	uint64_t examples[PROJECTION_SHAPES]; /* series of each shape so far */
};

/* Labels live in the arena. */
void label_projection_init(struct label_projection *projection, struct postgres *pg,
			   struct arena *arena);
void label_projection_done(struct label_projection *projection);

/* Limits the projection to these names. days: first and last. */
bool label_projection_limit(struct label_projection *projection, const str *names, size_t count,
			    const struct postgres_param days[2], struct err *err) MUST_CHECK;

/* Reads the needed pairs of these series that are not loaded yet. */
bool label_projection_load(struct label_projection *projection, const struct stored_series *series,
			   size_t count, const struct store_bounds *bounds,
			   struct err *err) MUST_CHECK;

/* The labels of a loaded series. The type is empty if the projection is limited. */
bool label_projection_of(const struct label_projection *projection,
			 const struct stored_series *series, str *ret_type,
			 struct labels *ret_labels, struct err *err) MUST_CHECK;
