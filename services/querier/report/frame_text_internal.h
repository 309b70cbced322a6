// SPDX-License-Identifier: Apache-2.0
/*
 * frame_text - the text of a frame in reports: its function, or binary+0xADDRESS in the ELF file if
 * it has no symbol; and why it has none. Function names are not changed.
 *
 * Cannot fail. Any thread.
 */
#pragma once

#include "querier/merge/merge.h"
#include "wire/symbolize.h"

/* The text of a stack without frames; samples with an empty stack are part of every report. */
#define NO_STACK STR("[no stack]")

/* The text borrows from the frame, or is in the arena. */
str frame_text(const struct frame *frame, struct arena *arena);

/* Why a frame of the merge has no function. NAME_KNOWN: it was not symbolized. */
enum name_reason frame_reason(const struct merge *merge, size_t frame);
