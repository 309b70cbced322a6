// SPDX-License-Identifier: Apache-2.0
/*
 * otlp_stacks - decodes the stacks of a message: their locations, mappings, functions and lines.
 */
#pragma once

#include "wire/otlp_decoder_internal.h"

/* Decode a stack of the stack table, once. `ret_stack` is its index in the sample_set. */
bool otlp_stack_read(struct otlp_decoder *decoder, uint64_t index, uint32_t *ret_stack);
