// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_format - what chunk_encode.c and chunk_decode.c agree on.
 */
#pragma once

enum { CHUNK_VERSION = 1, CHUNK_CHECKSUM = 8 };

enum chunk_column {
	CHUNK_STRINGS,       /* count; length and bytes of each. 0 is "" */
	CHUNK_ORIGINS,       /* count; type, build id, path of each */
	CHUNK_FRAMES,        /* count; origin's step, flags of each */
	CHUNK_ADDRESSES,     /* per frame: step from the frame before of the same origin */
	CHUNK_NAMES,         /* per frame with names: function's step, system name, file, lines */
	CHUNK_STACK_SHAPES,  /* count; frames shared with the stack before, frames that are new */
	CHUNK_STACK_FRAMES,  /* the new frames */
	CHUNK_LABEL_SETS,    /* count; of each: count, name and value of each label */
	CHUNK_SERIES,        /* count; id, type, period, count of samples, whether values follow */
	CHUNK_TIMES,         /* per sample: step from the one before, or from base_ms */
	CHUNK_STACKS,        /* per sample: its stack */
	CHUNK_SAMPLE_LABELS, /* per sample: its label set */
	CHUNK_VALUES,        /* per sample of a series whose values are not all its period */
	CHUNK_COLUMN_COUNT,
};

enum chunk_frame_flag { CHUNK_FRAME_NAMED = 1, CHUNK_FRAME_INLINED = 2 };
