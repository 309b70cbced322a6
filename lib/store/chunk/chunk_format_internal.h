// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_format - the binary format of a payload, shared by encoder and decoder.
 *
 * Version 2, which is written:
 *
 *     version  base_ms  slice count  lengths and bytes of the shared columns  XXH3 of all of it
 * then for each slice: its number  lengths and bytes of its columns  XXH3 of the slice so far
 *
 * Lengths come first, for all columns that follow, as pairs: raw length, stored length. A reader
 * may fetch only some of the slices, if it passes their count to the decoder (chunk_filter.slices).
 *
 * Version 1, which is still read, has exactly one slice. The slice has no number and no checksum of
 * its own: its lengths are stored with those of the shared columns, there is no slice count, and
 * one XXH3 ends the payload.
 */
#pragma once

#include "base/base.h"

enum { CHUNK_VERSION = 2, CHUNK_VERSION_WHOLE = 1, CHUNK_CHECKSUM = 8 };

/*
 * The columns and the contents of each; ";" separates what comes once from what comes per entry.
 * "Step": the difference from the previous entry.
 */
enum chunk_column {
	CHUNK_STRINGS,       /* count; length and bytes of each. Number 0 is "" */
	CHUNK_ORIGINS,       /* count; type, build id, path of each */
	CHUNK_FRAMES,        /* count; step of the origin, flags of each */
	CHUNK_ADDRESSES,     /* per frame: step from the previous frame of the same origin */
	CHUNK_NAMES,         /* per named frame: step of the function, system name, file, lines */
	CHUNK_STACK_SHAPES,  /* count; frames shared with the previous stack, frames that are new */
	CHUNK_STACK_FRAMES,  /* the new frames */
	CHUNK_LABEL_SETS,    /* count; of each: count, name and value of each label */
	CHUNK_SERIES,        /* count; id, type, period, sample count, unit of the values */
	CHUNK_TIMES,         /* per sample: step from the previous sample, or from base_ms */
	CHUNK_STACKS,        /* per sample: its stack, or the step if the time is the same */
	CHUNK_SAMPLE_LABELS, /* per sample: its label set */
	CHUNK_VALUES,        /* per sample of a series with a unit: its value in units */
	CHUNK_COLUMN_COUNT,
	CHUNK_SHARED_COUNT = CHUNK_SERIES, /* columns before it are shared; others are per slice */
};

/*
 * The unit of a series' values. CHUNK_ALL_PERIOD: every value equals the period, and values are not
 * written. Otherwise every value is a multiple of the unit. Version 1 uses unit 1 for values that
 * are written unchanged, and never stores steps of stacks.
 */
enum { CHUNK_ALL_PERIOD = 0 };

enum chunk_frame_flag { CHUNK_FRAME_NAMED = 1, CHUNK_FRAME_INLINED = 2 };

/* Where the slices are: after the head, without gaps, ordered by series id. */
struct chunk_layout {
	size_t head_len; /* bytes */
	struct chunk_slice {
		size_t len, series_count; /* bytes; not 0 */
	} * slices;
	size_t slice_count;
};
