// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_encoder - the state of an encoder: tables of a row under construction.
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

/* A slice under construction. Only the columns that belong to slices are used. */
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
	uint64_t stack_frames; /* frames of all stacks, before front-coding */
	uint64_t base_ms;
};

/* The number of a key in the order of first use; *ret_new: this is its first use. */
uint64_t chunk_encoder_number(struct map *map, str key, bool *ret_new);

/* The number of a text. Its first use writes it to the string column. */
uint64_t chunk_encoder_string(struct chunk_encoder *encoder, str text);

/* Total bytes of columns [first, end). */
size_t chunk_encoder_raw_len(const struct buf *columns, size_t first, size_t end);
