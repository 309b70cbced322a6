// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_stacks - decodes the stacks and frames of a row that its samples reference.
 */
#pragma once

#include "store/chunk/chunk_decoder_internal.h"

/* Reads the number of stacks; the columns stay positioned at the first stack. */
void chunk_stacks_count(struct chunk_decoder *decoder);

/*
 * Adds the stacks in use, with their frames, to the set and points the row's samples at them. If
 * the row is malformed, a column of the decoder has failed afterwards.
 */
void chunk_stacks_read(struct chunk_decoder *decoder);
