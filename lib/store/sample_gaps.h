// SPDX-License-Identifier: Apache-2.0
/*
 * sample_gaps - what a scan cannot find, since only sums of whole hours are left of it.
 *
 * For the reader's own files.
 */
#pragma once

#include "store/row_scan.h"

/* Adds to the reader's gaps what the scan needs of samples, and retention took. */
bool sample_gaps_find(const struct row_scan *scan, struct err *err) MUST_CHECK;
