// SPDX-License-Identifier: Apache-2.0
/*
 * random_set - random sample sets, the same for the same seed, and their plain text.
 *
 * The text has each sample with everything that it references, sorted, so that equal sets whose
 * tables are numbered differently have the same text.
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
