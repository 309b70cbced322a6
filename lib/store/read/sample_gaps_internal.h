// SPDX-License-Identifier: Apache-2.0
/*
 * sample_gaps - finds the parts of a plan's window of which only hourly sums are left.
 *
 * For the sample reader only; one thread: that of the reader.
 */
#pragma once

#include "store/scan/reader.h"
#include "store/scan/scan_plan.h"

/*
 * Sets gaps and gap_count of the reader: ranges in which the plan needs samples that retention has
 * dropped. ERR_IO: PostgreSQL failed.
 */
bool sample_gaps_find(struct store_reader *reader, const struct scan_plan *plan,
		      struct err *err) MUST_CHECK;
