// SPDX-License-Identifier: Apache-2.0
/*
 * compact_row - decodes a stored row whose samples move into another row. No I/O.
 *
 * A row stores no labels, but a sample set distinguishes series by their labels. While a set is
 * being filled, the id of a series therefore serves as its only label; compact_set_end() sets the
 * id from this label before the set is written. One thread per set.
 */
#pragma once

#include "base/err.h"
#include "profile/sample_set.h"

struct compact_row {
	uint64_t first_ms, last_ms, samples; /* values of the row's columns; times are inclusive */
	str payload;
};

/* Which samples, by the temporality of their type: all, all but gauges, or gauges. */
enum compact_types { COMPACT_ALL, COMPACT_DELTAS, COMPACT_GAUGES };

/*
 * Adds the row's samples of these types to the set, which sample_set_init() has initialised; the
 * samples are copied into the set's arena. `without`: of enum chunk_without. ERR_INVALID, the only
 * error: the row is corrupt, or its samples contradict its columns; the set is then undefined.
 */
bool compact_row_read(const struct compact_row *row, enum compact_types types, unsigned int without,
		      struct sample_set *set, struct err *err) MUST_CHECK;

/* Sets the ids of the series from their placeholder labels. Call it after the last
 * compact_row_read(). Cannot fail. */
void compact_set_end(struct sample_set *set);
