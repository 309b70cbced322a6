// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_slices - encodes the samples of each series and groups series into slices.
 */
#pragma once

#include "store/chunk/chunk_encoder_internal.h"

/* Fills encoder->slices and base_ms from encoder->samples, which must be in the row's order. */
void chunk_slices_put(struct chunk_encoder *encoder);
