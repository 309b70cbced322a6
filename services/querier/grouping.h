// SPDX-License-Identifier: Apache-2.0
/*
 * grouping - which group of an answer a sample is in, by the labels the answer is grouped by.
 *
 * A group is a label set of the set it is merged into. As in a selector, the series' label wins
 * over a sample's of the same name. For a gauge each of its sources is a group of its own, with one
 * label more (gauge.h).
 */
#pragma once

#include "gauge.h"
#include "profile/sample_set.h"
#include "querier_limits.h"

/* The labels that an answer is grouped by; each name once. */
struct group_by {
	str names[GROUP_BY_MAX];
	size_t len;
};

enum grouping_sources {
	GROUPING_NO_SOURCES,
	GROUPING_SOURCES,      /* told by series and pid */
	GROUPING_SOURCES_KEPT, /* the row is a merge, which has them */
};

struct grouping {
	struct sample_set *into;   /* label sets are copied into its arena */
	const struct group_by *by; /* NULL: a series is a group */
	enum grouping_sources sources;
	/* private: of one row */
	const struct sample_set *row;
	uint32_t *groups; /* by label set, of the series below: index + 1 */
	uint32_t series;  /* that groups speaks of */
	bool has_series;  /* `series` is set */
};

/* For the samples of one row; `scratch` must live as long as they are being asked for. */
void grouping_begin(struct grouping *grouping, const struct sample_set *row, struct arena *scratch);

uint32_t grouping_of(struct grouping *grouping, const struct sample *sample);

/* The group of these labels. */
uint32_t grouping_add(struct sample_set *into, struct labels labels);

/* A group of a gauge taken apart: its source, and the group that all of its sources are in. */
struct grouping_origin {
	struct gauge_source *source; /* NULL: it has none */
	uint32_t group;
};

/* By label set of `into`. */
const struct grouping_origin *grouping_origins(struct sample_set *into, const struct gauge *gauge,
					       struct arena *scratch);
