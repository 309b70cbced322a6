// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_seal - recomputes the checksums of a row in place, as far as its lengths allow: so that the
 * decoder, and not the checksum, meets what a test has corrupted.
 */
#pragma once

#include "base/hash.h"
#include "base/reader.h"
#include "store/chunk/chunk_format_internal.h"

/* Skips the lengths and bytes of `columns` columns. */
static inline void chunk_seal_skip(struct reader *r, size_t columns)
{
	uint64_t stored[CHUNK_COLUMN_COUNT];

	for (size_t i = 0; i < columns; i++) {
		reader_varint(r);
		stored[i] = reader_varint(r);
	}
	for (size_t i = 0; i < columns && !r->failed; i++)
		reader_bytes(r, stored[i]);
}

static inline void chunk_seal(char *row, size_t len)
{
	struct reader r = reader_of((str){ row, len });
	bool is_whole = reader_u8(&r) == CHUNK_VERSION_WHOLE;
	const char *from = row;

	reader_varint(&r);
	if (!is_whole)
		reader_varint(&r);
	chunk_seal_skip(&r, is_whole ? CHUNK_COLUMN_COUNT : CHUNK_SHARED_COUNT);
	while (!r.failed && reader_left(&r) >= CHUNK_CHECKSUM) {
		uint64_t sum = hash_64((str){ from, (size_t)(r.rest.ptr - from) });

		memcpy(row + (r.rest.ptr - row), &sum, sizeof(sum));
		reader_u64(&r);
		from = r.rest.ptr;
		reader_varint(&r);
		chunk_seal_skip(&r, CHUNK_COLUMN_COUNT - CHUNK_SHARED_COUNT);
	}
}
