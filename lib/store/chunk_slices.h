// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_slices - samples by series, cut into slices.
 */
#pragma once

#include "store/chunk_encoder.h"

/* Of the samples, which are in the row's order; base_ms with them. */
void chunk_slices_put(struct chunk_encoder *encoder);
