// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_stacks - decodes the stacks of a row that its wanted samples reference, and their frames.
 *
 * Neither function returns an error: a malformed row marks a column of the decoder as failed, which
 * chunk_decode() checks. One thread.
 */
#pragma once

#include "store/chunk/chunk_decoder_internal.h"

/*
 * Reads the number of stacks and allocates decoder->stacks_used in decoder->scratch. The columns
 * are then positioned at the first stack. Call it before the samples are read.
 */
void chunk_stacks_count(struct chunk_decoder *decoder);

/*
 * Adds the stacks marked in decoder->stacks_used, with their frames, to the set, and replaces the
 * stack indexes of the row in the row's samples with indexes of the set. Call it after the samples
 * are read, and only once. If the row is malformed, the samples are undefined.
 */
void chunk_stacks_read(struct chunk_decoder *decoder);
