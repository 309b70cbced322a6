// SPDX-License-Identifier: Apache-2.0
/*
 * grouping - assigns samples to groups, by the labels that the response is grouped by.
 *
 * A group is a label set of the sample_set that is merged into. As in a selector, a label of the
 * series takes precedence over a label of the sample with the same name. For a gauge, each source
 * is a group of its own, marked by one more label ("querier/merge/gauge_internal.h"). Memory is in
 * the arena of `into` or in the named scratch arena. No function fails. One thread.
 */
#pragma once

#include "profile/sample_set.h"
#include "querier/merge/gauge_internal.h"
#include "querier/querier_limits.h"

/* The labels that a response is grouped by; each name once. The names are borrowed. */
struct group_by {
	str names[GROUP_BY_MAX];
	size_t len;
};

enum grouping_sources {
	GROUPING_NO_SOURCES,
	GROUPING_SOURCES,      /* derive the source from series and pid */
	GROUPING_SOURCES_KEPT, /* the row is a merge whose groups have the source already */
};

struct grouping {
	struct sample_set *into;   /* label sets are copied into its arena */
	const struct group_by *by; /* NULL: each series is a group */
	enum grouping_sources sources;
	/* private: of one row */
	const struct sample_set *row;
	uint32_t *groups; /* of `series`, by label set: index + 1 */
	uint32_t series;
	bool has_series; /* `series` is set */
};

/* Begins with the samples of a row; `scratch` must live until the last grouping_of() on that row.
 */
void grouping_begin(struct grouping *grouping, const struct sample_set *row, struct arena *scratch);

/* The group of a sample: an index in the label sets of `into`. */
uint32_t grouping_of(struct grouping *grouping, const struct sample *sample);

/* The group with these labels, which are copied if it is new. */
uint32_t grouping_add(struct sample_set *into, struct labels labels);

/* For a group that is one source of a gauge: the source, and the group of all its sources. */
struct grouping_origin {
	struct gauge_source *source; /* NULL: the group has none */
	uint32_t group;
};

/* The origins of all label sets of `into`, by index; in `scratch`. Adds the groups of sources. */
const struct grouping_origin *grouping_origins(struct sample_set *into, const struct gauge *gauge,
					       struct arena *scratch);
