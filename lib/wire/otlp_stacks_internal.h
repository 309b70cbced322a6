// SPDX-License-Identifier: Apache-2.0
/*
 * otlp_stacks - decodes the stacks of a message: their locations, mappings, functions and lines.
 */
#pragma once

#include "wire/otlp_decoder_internal.h"

/* Decode entry `index` of the stack table, unless that was done before. *ret_stack is the index of
 * the stack in the sample_set. False: the message is rejected (otlp_reject()). */
bool otlp_stack_read(struct otlp_decoder *decoder, uint64_t index, uint32_t *ret_stack);
