// SPDX-License-Identifier: Apache-2.0
/*
 * pair_predicate - a matcher expressed as a set of label pair ids (a posting-list predicate).
 *
 * A predicate matches series by the ids of their label pairs, without reading names and values. The
 * predicate either requires that a series has one of its pairs, or that a series has none of its
 * pairs. The predicate is equivalent to the matcher if only series have the label, and not samples.
 * All memory is in the arena of the caller; there is nothing to close. One thread per matcher.
 */
#pragma once

#include "base/map.h"
#include "client/postgres.h"
#include "profile/selector.h"
#include "store/store_bounds.h"

struct pair_predicate {
	bool is_resolved; /* false: the matcher must be tested on values */
	bool excludes;    /* true: excludes series with a pair; false: requires one */
	int64_t *ids;     /* distinct */
	str *values;      /* values of the ids */
	size_t count;
	struct map set; /* the ids as keys, 8 bytes each */
};

/* Where the label values of a range of days are read. All pointers are borrowed. */
struct pair_value_source {
	struct postgres *pg;
	const struct store_bounds *bounds;
	const struct postgres_param *days; /* first and last, inclusive */
	struct arena *arena;
};

/*
 * Resolves =, != and regular expressions that are a list of literals, without reading values.
 * Overwrites *predicate; is_resolved stays false for other matchers. Cannot fail.
 */
void pair_predicate_from_literals(struct pair_predicate *predicate, const struct matcher *matcher,
				  struct arena *arena);

/* True if the matching values have a common prefix, so that few values must be read. */
bool pair_predicate_has_prefix(const struct matcher *matcher, struct arena *arena);

/*
 * Resolves the predicate by testing the values that the label has on these days. most > 0: leaves
 * the predicate unchanged if there are more than `most` values to test. ERR_IO: PostgreSQL failed.
 * ERR_CANCELLED, ERR_TIMEOUT: the bounds ended. ERR_LIMIT: the expression reached its match limit.
 * After a failure the predicate is undefined.
 */
bool pair_predicate_load(struct pair_predicate *predicate, const struct matcher *matcher,
			 const struct pair_value_source *source, size_t most,
			 struct err *err) MUST_CHECK;

/* True if a series with these pairs satisfies the predicate, which must be resolved. */
bool pair_predicate_matches(const struct pair_predicate *predicate, const int64_t *pairs,
			    size_t count);
