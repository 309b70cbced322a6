// SPDX-License-Identifier: Apache-2.0
/*
 * writer_rows - encodes the samples of a flush, by bucket, as rows of chunk_raw.
 */
#pragma once

#include "store/write/writer_flush_internal.h"

/* Merges the samples of all parts; fills copy, hours, days and the totals of the flush. */
void writer_rows_make(struct flush *flush);
