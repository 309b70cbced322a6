// SPDX-License-Identifier: Apache-2.0
/*
 * writer_rows - encodes the samples of a flush, by bucket, as rows of chunk_raw. No I/O.
 */
#pragma once

#include "store/write/writer_flush_internal.h"

/*
 * Merges the samples of all parts that are not lost; fills copy, hours, days, and rows, bytes and
 * samples of flush->result. All memory is in flush->arena. Cannot fail.
 */
void writer_rows_make(struct flush *flush);
