// SPDX-License-Identifier: Apache-2.0
/*
 * random_set - random sample sets, equal for equal seeds, and their content as plain text.
 *
 * The text has one line for each sample with all the items that it references, sorted. So two sets
 * with the same samples have the same text, even if their indexes differ.
 */
#pragma once

#include "profile/sample_set.h"

struct random_options {
	uint64_t seed;
	size_t samples, series, stacks, frames, label_sets;
	uint64_t first_ms, span_ms;
};

void random_set_fill(struct sample_set *set, const struct random_options *options);

/* One line per sample. */
str sample_set_text(const struct sample_set *set, struct arena *arena);
