// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_format - what chunk_encode.c and those that read a row agree on.
 *
 * Version 2, which is written:
 *
 *     version  base_ms  count of slices  lengths and bytes of the shared columns  XXH3 of all
 * before for each slice: its number  lengths and bytes of its columns  XXH3 of the slice before
 *
 * Lengths are pairs, raw and stored, of all the columns that follow. Of the slices any may be left
 * out, if who reads the rest says how many there are.
 *
 * Version 1, which is read: one slice without a number or a checksum of its own; its lengths stand
 * with those of the shared columns, no count of slices stands there, and one XXH3 ends the row.
 */
#pragma once

#include "base/base.h"

enum { CHUNK_VERSION = 2, CHUNK_VERSION_WHOLE = 1, CHUNK_CHECKSUM = 8 };

enum chunk_column {
	CHUNK_STRINGS,       /* count; length and bytes of each. 0 is "" */
	CHUNK_ORIGINS,       /* count; type, build id, path of each */
	CHUNK_FRAMES,        /* count; origin's step, flags of each */
	CHUNK_ADDRESSES,     /* per frame: step from the frame before of the same origin */
	CHUNK_NAMES,         /* per frame with names: function's step, system name, file, lines */
	CHUNK_STACK_SHAPES,  /* count; frames shared with the stack before, frames that are new */
	CHUNK_STACK_FRAMES,  /* the new frames */
	CHUNK_LABEL_SETS,    /* count; of each: count, name and value of each label */
	CHUNK_SERIES,        /* count; id, type, period, count of samples, unit of the values */
	CHUNK_TIMES,         /* per sample: step from the one before, or from base_ms */
	CHUNK_STACKS,        /* per sample: its stack, or the step where the time is the same */
	CHUNK_SAMPLE_LABELS, /* per sample: its label set */
	CHUNK_VALUES,        /* per sample of a series with a unit: how many of it */
	CHUNK_COLUMN_COUNT,
	CHUNK_SHARED_COUNT = CHUNK_SERIES, /* those before; the others are each slice's own */
};

/*
 * The unit of a series' values: they are all its period and are not written, or all multiples of
 * the unit. Version 1 says 1 where they are written as they are, and never steps of stacks.
 */
enum { CHUNK_ALL_PERIOD = 0 };

enum chunk_frame_flag { CHUNK_FRAME_NAMED = 1, CHUNK_FRAME_INLINED = 2 };

/* Where the slices of a row lie: behind its head, without gaps, in the order of their series. */
struct chunk_layout {
	size_t head_len; /* bytes */
	struct chunk_slice {
		size_t len, series_count; /* bytes; not 0 */
	} * slices;
	size_t slice_count;
};
