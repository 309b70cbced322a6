// SPDX-License-Identifier: Apache-2.0
/*
 * compact_row - a stored row whose samples are being moved into another row. Pure.
 *
 * Rows have no labels, and sets tell series apart by them: so a series' id stands for its labels
 * while a set is filled, and compact_set_end() makes it the id again before the set is written.
 */
#pragma once

#include "base/err.h"
#include "profile/sample_set.h"

struct compact_row {
	uint64_t first_ms, last_ms, samples; /* as its columns say */
	str payload;
};

/* Samples of which types. */
enum compact_part { COMPACT_ALL, COMPACT_DELTAS, COMPACT_GAUGES };

/*
 * Add its samples of the part to the set; `without`: of enum chunk_without. ERR_INVALID: it is
 * damaged, or holds other samples than its columns say; the set holds rubbish then.
 */
bool compact_row_read(const struct compact_row *row, enum compact_part part, unsigned int without,
		      struct sample_set *set, struct err *err) MUST_CHECK;

void compact_set_end(struct sample_set *set);
