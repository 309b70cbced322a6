/*
 * grouping - which group of an answer a sample is in, by the labels the answer is grouped by.
 *
 * A group is a label set of the set it is merged into. As in a selector, the series' label wins
 * over a sample's of the same name.
 */
#pragma once

#include "params.h"
#include "profile/sample_set.h"

struct grouping {
	struct sample_set *into;   /* label sets are copied into its arena */
	const struct group_by *by; /* NULL: a series is a group */
	/* private: of one row */
	const struct sample_set *row;
	uint32_t *groups;    /* by label set, of the series below: index + 1 */
	uint32_t series;     /* that groups speaks of */
	bool knows_a_series; /* `series` is set */
};

/* For the samples of one row; `scratch` must live as long as they are being asked for. */
void grouping_begin(struct grouping *grouping, const struct sample_set *row, struct arena *scratch);

uint32_t grouping_of(struct grouping *grouping, const struct sample *sample);

/* The group of these labels. */
uint32_t grouping_add(struct sample_set *into, struct labels labels);
