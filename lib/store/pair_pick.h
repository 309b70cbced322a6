// SPDX-License-Identifier: Apache-2.0
/*
 * pair_pick - the labels of series that somebody asks for, by the pairs that series have.
 *
 * A pair's id does not say of which name it is, and each that is looked up costs some microseconds.
 * Where only some names matter, most pairs are left alone: series with as many pairs mostly have
 * the same names at the same places, so a name is looked for where series like it had it, and all
 * pairs of a series are read where it is not there. Names that no series of these days has are not
 * looked for.
 *
 *     pair_pick_begin(&pick, pg, arena);  pair_pick_some(&pick, names, count, days, err);
 *     pair_pick_load(&pick, series, count, bounds, err);
 *     for each:  pair_pick_of(&pick, &series[i], &type, &labels, err);
 */
#pragma once

#include "profile/limits.h"
#include "store/pair_labels.h"

/* A stored series: what pairs it has, on a day that has all of them. */
struct pick_series {
	uint64_t id;
	int64_t day; /* UTC, since 1970 */
	const int64_t *pairs;
	size_t count;
};

enum {
	PICK_SHAPES = LABELS_MAX + 2, /* numbers of pairs; those beyond share with others */
	PICK_EXAMPLES = 8, /* series of each that are read whole, to know where names are */
};

struct pair_pick {
	bool some; /* the names below and no other label; else all labels */
	const str *names;
	size_t name_count;
	/* private */
	struct arena *arena;
	struct pair_labels labels;
	uint64_t *places; /* by shape and name, PICK_SHAPES of each: bit i: it was at pairs[i] */
	uint64_t examples[PICK_SHAPES]; /* series of each shape that were met */
};

/* Labels live in the arena. */
void pair_pick_begin(struct pair_pick *pick, struct postgres *pg, struct arena *arena);
void pair_pick_done(struct pair_pick *pick);

/* These names are enough. days: first and last. */
bool pair_pick_some(struct pair_pick *pick, const str *names, size_t count,
		    const struct postgres_param days[2], struct err *err) MUST_CHECK;

/* Read what is needed of these series and not known yet. */
bool pair_pick_load(struct pair_pick *pick, const struct pick_series *series, size_t count,
		    const struct store_bounds *bounds, struct err *err) MUST_CHECK;

/* Of one that was loaded. The type is empty where only some names are asked for. */
bool pair_pick_of(const struct pair_pick *pick, const struct pick_series *series, str *ret_type,
		  struct labels *ret_labels, struct err *err) MUST_CHECK;
