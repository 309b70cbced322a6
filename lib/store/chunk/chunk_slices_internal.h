// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_slices - encodes the samples of each series into the columns of slices, for chunk_encode().
 *
 * A slice is a part of a payload with the samples of consecutive series. A slice takes further
 * series until its columns have ROW_SLICE_RAW bytes. One thread.
 */
#pragma once

#include "store/chunk/chunk_encoder_internal.h"

/*
 * Sets encoder->base_ms, the smallest sample time, and fills encoder->slices from encoder->samples.
 * Before the call, the samples must be sorted by series id, time and stack, and the ranks of stacks
 * and label sets must be assigned. The slices live in encoder->scratch. Cannot fail.
 */
void chunk_slices_put(struct chunk_encoder *encoder);
