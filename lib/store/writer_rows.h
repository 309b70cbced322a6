// SPDX-License-Identifier: Apache-2.0
/*
 * writer_rows - the samples of a flush, by bucket, as rows of chunk_raw.
 */
#pragma once

#include "store/writer_flush.h"

/* Rows by bucket out of the parts: fills copy, hours and days. */
void writer_rows_make(struct flush *flush);
