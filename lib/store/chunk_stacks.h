// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_stacks - stacks and frames of a row, as far as samples speak of them.
 */
#pragma once

#include "store/chunk_decoder.h"

/* How many stacks there are; their columns are left to be read. */
void chunk_stacks_count(struct chunk_decoder *decoder);

/* Stacks that are used, into the set with their frames; the row's samples then speak of those. */
void chunk_stacks_read(struct chunk_decoder *decoder);
