// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_encoder - the state of an encoder: tables of a row under construction.
 *
 * chunk_encode() initialises the encoder and frees `scratch`, which holds all memory of the
 * encoder. "Row" is the row that is written, "set" the caller's samples. The functions cannot fail.
 * One thread.
 */
#pragma once

#include "base/map.h"
#include "profile/sample_set.h"
#include "store/chunk/chunk_format_internal.h"

/* Maps indexes of the set to indexes of the row, which are assigned in the row's order. */
struct ranks {
	uint32_t *of;  /* by index of the set: index of the row + 1, 0 if unused */
	uint32_t *all; /* by index of the row: index of the set */
	size_t count;
};

/* A slice under construction: the samples of consecutive series. Only columns from
 * CHUNK_SHARED_COUNT on are used. */
struct slice {
	struct buf columns[CHUNK_COLUMN_COUNT];
	size_t series_count;
};

struct chunk_encoder {
	const struct sample_set *set; /* borrowed from the caller */
	struct arena scratch;
	struct buf columns[CHUNK_SHARED_COUNT];
	VEC(struct slice) slices;
	struct map strings, origins; /* by bytes: number in order of first use */
	uint32_t *frame_origins;     /* by frame index of the set: number of its origin */
	struct ranks series, stacks, frames, label_sets;
	struct sample *samples; /* sorted by series id, time, stack */
	size_t sample_count;
	uint64_t stack_frames; /* frames of all stacks, before front-coding */
	uint64_t base_ms;      /* the smallest sample time of the row */
};

/* Returns the number of a key, from 0 on, in the order of first use. *ret_new: this is the first
 * use. The map borrows the key. */
uint64_t chunk_encoder_number(struct map *map, str key, bool *ret_new);

/* Returns the number of a text. The first use writes the text to the string column. */
uint64_t chunk_encoder_string(struct chunk_encoder *encoder, str text);

/* Total bytes of columns [first, end). */
size_t chunk_encoder_raw_len(const struct buf *columns, size_t first, size_t end);
