// SPDX-License-Identifier: Apache-2.0
/*
 * step_sums - sums over time steps, computed from the directories of rows.
 *
 * A directory has the sum and the first and last time of each series. If both times are within one
 * step and labels of the series suffice, the payload is not needed. This applies to whole rows: if
 * one of the matching series needs the payload, the payload is read for all matching series.
 *
 * For the sample reader only; one thread: the leader's. The caller sets the public members, which
 * are borrowed, and the others to zero; step_sums_end() frees the memory.
 */
#pragma once

#include "store/scan/scan_plan.h"
#include "store/scan/store_sink.h"
#include "store/scan/store_stats.h"

struct step_sums {
	const struct scan_plan *plan; /* with steps and `series` */
	const struct store_sink *sink;
	struct store_stats *stats;
	/* private */
	struct arena arena;
	struct sample_set set;
	bool has_begun, has_failed;
	struct err err; /* the first error of the sink */
};

/*
 * True: the sums of the row were added, and the sink gets them now or later; do not read the
 * payload. False: the payload must be read. An error of the sink is kept for step_sums_end().
 */
bool step_sums_add(struct step_sums *steps, const struct chunk_directory *directory);

/*
 * Passes the remaining sums to the sink, unless `good` is false (the scan failed with *err), and
 * frees the memory. Call it once, in any case. False: the scan has failed, or *err is the first
 * error of the sink.
 */
bool step_sums_end(struct step_sums *steps, bool good, struct err *err) MUST_CHECK;
