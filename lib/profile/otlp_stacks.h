// SPDX-License-Identifier: Apache-2.0
/*
 * otlp_stacks - decodes a stack of a message's dictionary, with its locations, mappings and
 * functions.
 */
#pragma once

#include "profile/otlp_decoder.h"

/* The index in the set. */
bool otlp_stack_read(struct otlp_decoder *decoder, uint64_t index, uint32_t *ret_stack);
