// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_encoder - a row that is being written: what chunk_encode.c and chunk_slices.c share.
 */
#pragma once

#include "base/map.h"
#include "profile/sample_set.h"
#include "store/chunk_format.h"

/* Indexes of the set turned into those of the row, which are given out in the row's order. */
struct ranks {
	uint32_t *of;  /* by index of the set: index of the row + 1, 0 where unused */
	uint32_t *all; /* by index of the row: index of the set */
	size_t count;
};

/* A slice that is being made; of its columns only those of slices are used. */
struct slice {
	struct buf columns[CHUNK_COLUMN_COUNT];
	size_t series_count;
};

struct chunk_encoder {
	const struct sample_set *set;
	struct arena scratch;
	struct buf columns[CHUNK_SHARED_COUNT];
	VEC(struct slice) slices;
	struct map strings, origins;
	uint32_t *frame_origins; /* by index of the set */
	struct ranks series, stacks, frames, label_sets;
	struct sample *samples; /* in the row's order */
	size_t sample_count;
	uint64_t stack_frames; /* of all stacks, written out */
	uint64_t base_ms;
};

/* The number of a key in the order of first use. */
uint64_t chunk_encoder_number(struct map *map, str key, bool *ret_new);

/* The number of a text; it is written when it is first asked for. */
uint64_t chunk_encoder_string(struct chunk_encoder *encoder, str text);

/* Bytes of these columns. */
size_t chunk_encoder_raw_len(const struct buf *columns, size_t first, size_t end);
