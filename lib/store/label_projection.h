// SPDX-License-Identifier: Apache-2.0
/*
 * pair_pick - the labels of series that somebody asks for, by the pairs that series have.
 *
 * A pair's id does not say of which name it is, and each that is looked up costs some microseconds.
 * Where only some names matter, most pairs are left alone: series with as many pairs mostly have
 * the same names at the same positions, so a name is looked for where series like it had it, and
 * all pairs of a series are read where it is not there. Names that no series of these days has are
 * not looked for.
 *
 *     label_projection_init(&projection, pg, arena);  label_projection_limit(&projection, names,
 * count, days, err); label_projection_load(&projection, series, count, bounds, err); for each:
 * label_projection_of(&projection, &series[i], &type, &labels, err);
 */
#pragma once

#include "profile/limits.h"
#include "store/pair_labels.h"

/* A stored series: what pairs it has, on a day that has all of them. */
struct stored_series {
	uint64_t id;
	int64_t day; /* UTC, since 1970 */
	const int64_t *pairs;
	size_t count;
};

enum {
	PROJECTION_SHAPES = LABELS_MAX + 2, /* numbers of pairs; those beyond share with others */
	PROJECTION_EXAMPLES = 8, /* series of each that are read whole, to know where names are */
};

struct label_projection {
	bool is_limited; /* the names below and no other label; else all labels */
	const str *names;
	size_t name_count;
	/* private */
	struct arena *arena;
	struct pair_labels labels;
	uint64_t *positions; /* by shape and name, PROJECTION_SHAPES of each: bit i: it was at
				pairs[i] */
	uint64_t examples[PROJECTION_SHAPES]; /* series of each shape that were met */
};

/* Labels live in the arena. */
void label_projection_init(struct label_projection *projection, struct postgres *pg,
			   struct arena *arena);
void label_projection_done(struct label_projection *projection);

/* These names are enough. days: first and last. */
bool label_projection_limit(struct label_projection *projection, const str *names, size_t count,
			    const struct postgres_param days[2], struct err *err) MUST_CHECK;

/* Read what is needed of these series and not known yet. */
bool label_projection_load(struct label_projection *projection, const struct stored_series *series,
			   size_t count, const struct store_bounds *bounds,
			   struct err *err) MUST_CHECK;

/* Of one that was loaded. The type is empty where only some names are asked for. */
bool label_projection_of(const struct label_projection *projection,
			 const struct stored_series *series, str *ret_type,
			 struct labels *ret_labels, struct err *err) MUST_CHECK;
