// SPDX-License-Identifier: Apache-2.0
#include "store/chunk_columns.h"

#include "base/hash.h"
#include "store/chunk.h"
#include "store/limits.h"

#include <zstd.h>

/* A column as it lies in the row. */
struct packed {
	uint64_t raw_len;
	str stored;
};

/* Without what a column is not needed. */
static const unsigned int parts[CHUNK_COLUMN_COUNT] = {
	[CHUNK_ORIGINS] = CHUNK_NO_STACKS,       [CHUNK_FRAMES] = CHUNK_NO_STACKS,
	[CHUNK_ADDRESSES] = CHUNK_NO_STACKS,     [CHUNK_NAMES] = CHUNK_NO_STACKS,
	[CHUNK_STACK_SHAPES] = CHUNK_NO_STACKS,  [CHUNK_STACK_FRAMES] = CHUNK_NO_STACKS,
	[CHUNK_STACKS] = CHUNK_NO_STACKS,        [CHUNK_LABEL_SETS] = CHUNK_NO_LABELS,
	[CHUNK_SAMPLE_LABELS] = CHUNK_NO_LABELS,
};

/* The row without its checksum. */
static bool check_row(str row, str *ret_body, struct err *err)
{
	if (row.len < CHUNK_CHECKSUM)
		return err_set(err, ERR_INVALID, "a row of %zu bytes", row.len);

	str body = { row.ptr, row.len - CHUNK_CHECKSUM };
	struct reader tail = reader_of(str_skip(row, body.len));

	if (hash_64(body) != reader_u64(&tail))
		return err_set(err, ERR_INVALID, "a row's checksum is wrong");
	*ret_body = body;
	return true;
}

static bool read_head(struct reader *r, uint64_t *ret_base_ms, struct packed *packed,
		      struct err *err)
{
	uint64_t total = 0;

	if (reader_u8(r) != CHUNK_VERSION)
		return err_set(err, ERR_INVALID, "a row of a version that is not known");
	*ret_base_ms = reader_varint(r);
	for (size_t i = 0; i < CHUNK_COLUMN_COUNT; i++) {
		packed[i].raw_len = reader_varint(r);
		packed[i].stored.len = reader_varint(r);
		if (packed[i].raw_len > CHUNK_RAW_MAX ||
		    (total += packed[i].raw_len) > CHUNK_RAW_MAX)
			return err_set(err, ERR_INVALID,
				       "a row's columns are more than %d bytes, decompressed",
				       CHUNK_RAW_MAX);
	}
	for (size_t i = 0; i < CHUNK_COLUMN_COUNT; i++) {
		if (packed[i].stored.len > reader_left(r))
			return err_set(err, ERR_INVALID, "column %zu of a row is cut short", i);
		packed[i].stored = reader_bytes(r, packed[i].stored.len);
	}
	return !r->failed || err_set(err, ERR_INVALID, "a row's head is cut short");
}

static bool unpack(const struct packed *packed, size_t column, struct arena *arena,
		   struct reader *ret_reader, struct err *err)
{
	str stored = packed->stored;
	size_t raw_len = packed->raw_len;

	if (stored.len == raw_len) {
		*ret_reader = reader_of(str_copy(arena, stored));
		return true;
	}
	if (stored.len > raw_len || ZSTD_getFrameContentSize(stored.ptr, stored.len) != raw_len)
		return err_set(err, ERR_INVALID, "column %zu of a row has an impossible length",
			       column);

	char *raw = arena_array(arena, char, raw_len);
	size_t len = ZSTD_decompress(raw, raw_len, stored.ptr, stored.len);

	if (ZSTD_isError(len) || len != raw_len)
		return err_set(err, ERR_INVALID, "column %zu of a row does not decompress", column);
	*ret_reader = reader_of((str){ raw, len });
	return true;
}

bool chunk_columns_open(struct chunk_columns *columns, str row, unsigned int without,
			struct arena *arena, struct err *err)
{
	struct packed packed[CHUNK_COLUMN_COUNT];
	struct reader r = { 0 };

	if (!check_row(row, &r.rest, err) || !read_head(&r, &columns->base_ms, packed, err))
		return false;
	for (size_t i = 0; i < CHUNK_COLUMN_COUNT; i++) {
		if (parts[i] & without)
			continue;
		if (!unpack(&packed[i], i, arena, &columns->of[i], err))
			return false;
	}
	return true;
}
