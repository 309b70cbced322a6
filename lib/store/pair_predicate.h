// SPDX-License-Identifier: Apache-2.0
/*
 * pair_choice - a matcher as a set of label pairs, so that series are told by the pairs they have,
 * and the names and values of these need not be known.
 *
 * A predicate either demands one of its pairs or excludes all of them. It stands for the whole of a
 * matcher on series that alone can have the label.
 */
#pragma once

#include "base/map.h"
#include "client/postgres.h"
#include "profile/selector.h"
#include "store/store_bounds.h"

struct pair_predicate {
	bool is_resolved; /* false: the matcher must be tried on values */
	bool excludes;    /* else it demands */
	int64_t *ids;     /* each once */
	str *values;      /* of the same */
	size_t count;
	struct map set; /* of the ids, 8 bytes each */
};

/* Where the values of a day are looked up. */
struct pair_value_source {
	struct postgres *pg;
	const struct store_bounds *bounds;
	const struct postgres_param *days; /* first and last */
	struct arena *arena;
};

/* Without looking anything up: =, !=, and an expression that names its values. */
void pair_predicate_from_literals(struct pair_predicate *predicate, const struct matcher *matcher,
				  struct arena *arena);

/* Whether its expression says how the values begin, so that few are looked at. */
bool pair_predicate_has_prefix(const struct matcher *matcher, struct arena *arena);

/*
 * By the values that the days have. most > 0: leave it unmade where there would be more values to
 * look at than that.
 */
bool pair_predicate_load(struct pair_predicate *predicate, const struct matcher *matcher,
			 const struct pair_value_source *source, size_t most,
			 struct err *err) MUST_CHECK;

/* Whether a series of these pairs has what the predicate wants. */
bool pair_predicate_matches(const struct pair_predicate *predicate, const int64_t *pairs,
			    size_t count);
