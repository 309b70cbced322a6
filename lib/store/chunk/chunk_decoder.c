// SPDX-License-Identifier: Apache-2.0
#include "store/chunk/chunk_decoder_internal.h"
#include "store/limits.h"

bool chunk_decoder_has_room(struct chunk_decoder *decoder, uint64_t count, size_t size)
{
	size_t used = decoder->scratch.size + decoder->set->arena->size - decoder->used_before;

	if (used <= CHUNK_MEMORY_MAX && count <= (CHUNK_MEMORY_MAX - used) / size)
		return true;
	decoder->too_large = true;
	for (size_t i = 0; i < CHUNK_COLUMN_COUNT; i++)
		reader_fail(&decoder->columns.of[i]);
	return false;
}

uint64_t chunk_decoder_read_count(struct reader *column)
{
	uint64_t count = reader_varint(column);

	if (count > reader_left(column)) {
		reader_fail(column);
		return 0;
	}
	return count;
}

uint64_t chunk_decoder_read_table(struct chunk_decoder *decoder, struct reader *column, size_t size)
{
	uint64_t count = chunk_decoder_read_count(column);

	return chunk_decoder_has_room(decoder, count, size) ? count : 0;
}

uint64_t chunk_decoder_read_index(struct reader *column, uint64_t count)
{
	uint64_t index = reader_varint(column);

	if (index >= count) {
		reader_fail(column);
		return 0;
	}
	return index;
}

str chunk_decoder_read_string(struct chunk_decoder *decoder, struct reader *column)
{
	uint64_t index = chunk_decoder_read_index(column, decoder->string_count);

	return column->failed ? (str){ 0 } : decoder->strings[index];
}
