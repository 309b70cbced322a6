// SPDX-License-Identifier: Apache-2.0
/*
 * compact_row - decodes a stored row whose samples move into another row. Pure.
 *
 * A row stores no labels, but a sample set distinguishes series by their labels. While a set is
 * being filled, the series id therefore serves as its only label; compact_set_end() turns it back
 * into the id before the set is written.
 */
#pragma once

#include "base/err.h"
#include "profile/sample_set.h"

struct compact_row {
	uint64_t first_ms, last_ms, samples; /* values of the row's columns */
	str payload;
};

/* Which samples, by the temporality of their type. */
enum compact_types { COMPACT_ALL, COMPACT_DELTAS, COMPACT_GAUGES };

/*
 * Adds the row's samples of these types to the set; `without`: of enum chunk_without. ERR_INVALID:
 * the row is corrupt, or its samples contradict its columns; the set is then undefined.
 */
bool compact_row_read(const struct compact_row *row, enum compact_types types, unsigned int without,
		      struct sample_set *set, struct err *err) MUST_CHECK;

/* Sets the ids of the series from their placeholder labels. */
void compact_set_end(struct sample_set *set);
