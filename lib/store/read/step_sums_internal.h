// SPDX-License-Identifier: Apache-2.0
/*
 * step_sums - sums over time steps, computed from the directories of rows.
 *
 * A directory has the sum and the first and last time of each series. If both times are within one
 * step and labels of the series suffice, the payload is not needed. This applies to whole rows: if
 * one of the matching series needs the payload, the payload is read for all of them.
 *
 * For the sample reader only.
 */
#pragma once

#include "store/read/query_match_internal.h"
#include "store/read/sample_reader.h"

struct step_sums {
	uint64_t start_ms, step_ms;
	const struct query_match *match;
	const struct store_sink *sink;
	struct store_stats *stats;
	/* private */
	struct arena arena;
	struct sample_set set;
	bool has_begun, has_failed;
	struct err err; /* the first error of the sink */
};

/* True: the row is accounted for, and the sink has or will get it; do not read the payload. */
bool step_sums_add(struct step_sums *steps, const struct chunk_directory *directory);

/* Passes the remaining sums to the sink, unless `good` is false (the scan failed). */
bool step_sums_end(struct step_sums *steps, bool good, struct err *err) MUST_CHECK;
