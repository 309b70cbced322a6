// SPDX-License-Identifier: Apache-2.0
/*
 * frame_text - how a frame is called where people read it: its function, or binary+0xADDRESS in the
 * ELF file where nobody has named it. Names stand as they were given.
 */
#pragma once

#include "profile/sample_set.h"

/* How a stack without frames is called: its samples are in every answer. */
#define NO_STACK STR("[no stack]")

str frame_text(const struct frame *frame, struct arena *arena);
