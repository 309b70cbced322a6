// SPDX-License-Identifier: Apache-2.0
/*
 * step_sums - sums over steps of time, out of the directories of rows.
 *
 * A directory has of each series the sum, and the first and last time. Where both are of one step,
 * and labels of the series are enough, nothing of the payload is needed. A row goes one way or the
 * other, whole: where one of its series that are meant needs the payload, all are read there.
 *
 * For the reader's own files.
 */
#pragma once

#include "store/query_match.h"
#include "store/sample_reader.h"

struct step_sums {
	uint64_t start_ms, step_ms;
	const struct query_match *match;
	const struct store_sink *sink;
	struct store_stats *stats;
	/* private */
	struct arena arena;
	struct sample_set set;
	bool has_begun, has_failed;
	struct err err; /* why */
};

/* True: the sink has all that is meant of the row, or gets it later; the payload can stay. */
bool step_sums_add(struct step_sums *steps, const struct chunk_directory *directory);

/* Give the sink what is left, unless something else has failed (`good` false). */
bool step_sums_end(struct step_sums *steps, bool good, struct err *err) MUST_CHECK;
