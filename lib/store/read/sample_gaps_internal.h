// SPDX-License-Identifier: Apache-2.0
/*
 * sample_gaps - finds the parts of a scan's window of which only hourly sums are left.
 *
 * For the sample reader only; one thread: that of the reader.
 */
#pragma once

#include "store/scan/row_scan.h"

/*
 * Sets gaps and gap_count of scan->reader: ranges in which the scan needs samples that retention
 * has dropped. ERR_IO: PostgreSQL failed.
 */
bool sample_gaps_find(const struct row_scan *scan, struct err *err) MUST_CHECK;
