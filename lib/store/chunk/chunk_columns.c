// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"
#include "store/chunk/chunk_columns_internal.h"
#include "store/chunk/chunk_decode.h"
#include "store/limits.h"

#include <zstd.h>

/* A column as it is stored in the row. */
struct packed {
	uint64_t raw_len;
	str stored;
};

/* The columns that enum chunk_without excludes. */
static const unsigned int excluded_by[CHUNK_COLUMN_COUNT] = {
	[CHUNK_ORIGINS] = CHUNK_NO_STACKS,       [CHUNK_FRAMES] = CHUNK_NO_STACKS,
	[CHUNK_ADDRESSES] = CHUNK_NO_STACKS,     [CHUNK_NAMES] = CHUNK_NO_STACKS,
	[CHUNK_STACK_SHAPES] = CHUNK_NO_STACKS,  [CHUNK_STACK_FRAMES] = CHUNK_NO_STACKS,
	[CHUNK_STACKS] = CHUNK_NO_STACKS,        [CHUNK_LABEL_SETS] = CHUNK_NO_LABELS,
	[CHUNK_SAMPLE_LABELS] = CHUNK_NO_LABELS,
};

/* Verifies the checksum at the read position, of the bytes from `from` up to it. */
static bool check_sum(struct reader *r, const char *from, const char *what, struct err *err)
{
	str summed = { from, (size_t)(r->rest.ptr - from) };

	if (reader_left(r) < CHUNK_CHECKSUM)
		return err_set(err, ERR_INVALID, "%s is truncated", what);
	return hash_64(summed) == reader_u64(r) ||
	       err_set(err, ERR_INVALID, "the checksum of %s is wrong", what);
}

/* Lengths and bytes of columns [first, end). */
static bool read_packed(struct chunk_columns *columns, struct reader *r, size_t first, size_t end,
			struct packed *packed, struct err *err)
{
	for (size_t i = first; i < end; i++) {
		packed[i].raw_len = reader_varint(r);
		packed[i].stored.len = reader_varint(r);
		if (packed[i].raw_len > CHUNK_RAW_MAX ||
		    (columns->raw_len += packed[i].raw_len) > CHUNK_RAW_MAX)
			return err_set(err, ERR_INVALID,
				       "the columns of a row are more than %d bytes, decompressed",
				       CHUNK_RAW_MAX);
	}
	for (size_t i = first; i < end; i++) {
		if (packed[i].stored.len > reader_left(r))
			return err_set(err, ERR_INVALID, "column %zu of a row is truncated", i);
		packed[i].stored = reader_bytes(r, packed[i].stored.len);
	}
	return !r->failed || err_set(err, ERR_INVALID, "the lengths of a row are truncated");
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
		return err_set(err, ERR_INVALID, "column %zu of a row has an invalid length",
			       column);

	char *raw = arena_array(arena, char, raw_len);
	size_t len = ZSTD_decompress(raw, raw_len, stored.ptr, stored.len);

	if (ZSTD_isError(len) || len != raw_len)
		return err_set(err, ERR_INVALID, "column %zu of a row does not decompress", column);
	*ret_reader = reader_of((str){ raw, len });
	return true;
}

static bool unpack_all(struct chunk_columns *columns, const struct packed *packed, size_t first,
		       size_t end, struct arena *arena, struct err *err)
{
	for (size_t i = first; i < end; i++) {
		if (excluded_by[i] & columns->without)
			continue;
		if (!unpack(&packed[i], i, arena, &columns->of[i], err))
			return false;
	}
	return true;
}

bool chunk_columns_open(struct chunk_columns *columns, str row, unsigned int without,
			struct arena *arena, struct err *err)
{
	struct packed packed[CHUNK_COLUMN_COUNT];
	struct reader r = reader_of(row);
	size_t end = CHUNK_SHARED_COUNT;

	*columns = (struct chunk_columns){ .version = reader_u8(&r), .without = without };
	if (columns->version != CHUNK_VERSION && columns->version != CHUNK_VERSION_WHOLE)
		return err_set(err, ERR_INVALID, "a row of %zu bytes has an unknown version",
			       row.len);
	columns->base_ms = reader_varint(&r);
	columns->slice_count = 1;
	if (columns->version == CHUNK_VERSION_WHOLE)
		end = CHUNK_COLUMN_COUNT;
	else
		columns->slice_count = reader_varint(&r);
	if (!read_packed(columns, &r, 0, end, packed, err) ||
	    !check_sum(&r, row.ptr, "a row's head", err))
		return false;
	columns->rest = r;
	return unpack_all(columns, packed, 0, end, arena, err);
}

bool chunk_columns_next(struct chunk_columns *columns, struct arena *arena, bool *ret_open,
			struct err *err)
{
	struct packed packed[CHUNK_COLUMN_COUNT];
	struct reader *r = &columns->rest;
	const char *from = r->rest.ptr;
	bool whole = columns->version == CHUNK_VERSION_WHOLE;

	*ret_open = whole ? columns->opened_count == 0 : reader_left(r) > 0;
	if (!*ret_open)
		return true;
	columns->opened_count++;
	if (whole) /* chunk_columns_open() has read it */
		return reader_left(r) == 0 || err_set(err, ERR_INVALID, "a row has trailing bytes");

	uint64_t number = reader_varint(r);

	if (number < columns->next || number >= columns->slice_count)
		return err_set(err, ERR_INVALID, "the slices of a row are not in order");
	columns->next = number + 1;
	return read_packed(columns, r, CHUNK_SHARED_COUNT, CHUNK_COLUMN_COUNT, packed, err) &&
	       check_sum(r, from, "a row's slice", err) &&
	       unpack_all(columns, packed, CHUNK_SHARED_COUNT, CHUNK_COLUMN_COUNT, arena, err);
}
