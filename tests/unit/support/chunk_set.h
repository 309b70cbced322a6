// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_set - sample sets that tests encode as rows, and a filter that reads all samples back.
 */
#pragma once

#include "store/chunk/chunk_decode.h"
#include "support/random_set.h"

/* Labels by id, like the table `series`. */
static inline bool labels_in(void *self, uint64_t id, str type, struct labels *ret_labels)
{
	const struct sample_set *set = self;

	for (size_t i = 0; i < set->series.len; i++)
		if (set->series.items[i].id == id && str_eq(set->series.items[i].type, type)) {
			*ret_labels = set->series.items[i].labels;
			return true;
		}
	return false;
}

static inline struct chunk_filter all_of(struct sample_set *set)
{
	return (struct chunk_filter){ labels_in, set, 0, UINT64_MAX };
}

static const struct random_options busy = {
	.seed = 7,
	.samples = 3000,
	.series = 20,
	.stacks = 400,
	.frames = 300,
	.label_sets = 30,
	.first_ms = UINT64_C(1790000000000),
	.span_ms = 10000,
};
