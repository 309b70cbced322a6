// SPDX-License-Identifier: Apache-2.0
#include "store/chunk/chunk_encode.h"
#include "store/chunk/chunk_format_internal.h"
#include "store/limits.h"
#include "support/chunk_seal.h"
#include "support/chunk_set.h"
#include "support/test.h"

#include <zstd.h>

static void rejects_every_row_with_a_flipped_byte(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;
	struct chunk_filter filter = all_of(&set);
	uint64_t samples;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	random_set_fill(&set, &(struct random_options){ .seed = 3,
							.samples = 50,
							.series = 3,
							.stacks = 10,
							.frames = 20,
							.label_sets = 3,
							.span_ms = 100 });

	str row = chunk_encode(&set, 1, &arena, NULL);
	char *bytes = arena_array(&arena, char, row.len);

	for (size_t i = 0; i < row.len; i++) {
		AUTO_ARENA scratch = { 0 };
		struct sample_set got;

		memcpy(bytes, row.ptr, row.len);
		bytes[i] ^= 0x10;
		sample_set_init(&got, &scratch);
		assert_false(chunk_decode((str){ bytes, row.len }, &filter, &got, &samples, &err));
		assert_false(chunk_decode((str){ row.ptr, i }, &filter, &got, &samples, &err));
	}
}

/* A wrong count with a correct checksum must be rejected as well. */
static void rejects_wrong_counts_with_a_correct_checksum(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;
	struct chunk_filter filter = all_of(&set);
	size_t rejected = 0;
	struct err err;

	(void)state;
	sample_set_init(&set, &arena);
	random_set_fill(&set, &(struct random_options){ .seed = 5,
							.samples = 60,
							.series = 3,
							.stacks = 10,
							.frames = 20,
							.label_sets = 3,
							.span_ms = 100 });

	str row = chunk_encode(&set, 0, &arena, NULL);
	char *bytes = arena_array(&arena, char, row.len);

	for (size_t i = 0; i + 8 < row.len; i++) {
		AUTO_ARENA scratch = { 0 };
		struct sample_set got;
		uint64_t samples;

		memcpy(bytes, row.ptr, row.len);
		bytes[i] = (char)0xff;
		chunk_seal(bytes, row.len);
		sample_set_init(&got, &scratch);
		rejected += !chunk_decode((str){ bytes, row.len }, &filter, &got, &samples, &err);
	}
	assert_true(rejected > row.len / 4);
}

/* Lengths and bytes of these columns, then the checksum of the row from `from` on. */
static void put_columns(struct buf *row, size_t from, const str *columns, size_t count)
{
	struct buf body = { .arena = row->arena };

	for (size_t i = 0; i < count; i++) {
		size_t room = ZSTD_compressBound(columns[i].len);
		size_t len = ZSTD_compress(buf_reserve(&body, room), room, columns[i].ptr,
					   columns[i].len, 1);

		assert_false(ZSTD_isError(len));
		if (len < columns[i].len) {
			body.len += len;
		} else {
			len = columns[i].len;
			buf_str(&body, columns[i]);
		}
		buf_varint(row, columns[i].len);
		buf_varint(row, len);
	}
	buf_str(row, buf_bytes(&body));
	buf_u64(row, hash_64(str_skip(buf_bytes(row), from)));
}

/* A row of these columns, with one slice. */
static str row_of(const str columns[CHUNK_COLUMN_COUNT], struct arena *arena)
{
	struct buf row = { .arena = arena };
	size_t from;

	buf_u8(&row, CHUNK_VERSION);
	buf_varint(&row, 0);
	buf_varint(&row, 1);
	put_columns(&row, 0, columns, CHUNK_SHARED_COUNT);
	from = row.len;
	buf_varint(&row, 0);
	put_columns(&row, from, columns + CHUNK_SHARED_COUNT,
		    CHUNK_COLUMN_COUNT - CHUNK_SHARED_COUNT);
	return buf_bytes(&row);
}

/* Each column is within the limit; their sum is not, and must not be allocated. */
static void rejects_columns_that_are_too_large_together(void **state)
{
	enum { LEN = CHUNK_RAW_MAX / 4 };
	AUTO_ARENA arena = { 0 }, scratch = { 0 };
	str columns[CHUNK_COLUMN_COUNT];
	struct sample_set got;
	struct chunk_filter filter = all_of(&got);
	uint64_t samples;
	struct err err;

	(void)state;
	for (size_t i = 0; i < CHUNK_COLUMN_COUNT; i++)
		columns[i] = (str){ i ? columns[0].ptr : arena_array(&arena, char, LEN), LEN };

	str row = row_of(columns, &arena);

	assert_true(row.len < 1 << 20);
	sample_set_init(&got, &scratch);
	assert_false(chunk_decode(row, &filter, &got, &samples, &err));
	assert_int_equal(err.code, ERR_INVALID);
	assert_string_equal(err.msg,
			    "the columns of a row are more than 268435456 bytes, decompressed");
	assert_true(scratch.size < 1 << 20);
}

/* An empty string is one byte of a column, and sixteen bytes of a table. */
static void rejects_a_row_whose_tables_are_too_large(void **state)
{
	AUTO_ARENA arena = { 0 }, scratch = { 0 };
	str columns[CHUNK_COLUMN_COUNT] = { 0 };
	struct buf strings = { .arena = &arena };
	struct sample_set got;
	struct chunk_filter filter = all_of(&got);
	size_t count = CHUNK_MEMORY_MAX / sizeof(str);
	uint64_t samples;
	struct err err;

	(void)state;
	buf_varint(&strings, count);
	memset(buf_reserve(&strings, count), 0, count);
	strings.len += count;
	for (size_t i = 0; i < CHUNK_COLUMN_COUNT; i++)
		columns[i] = STR("");
	columns[CHUNK_STRINGS] = buf_bytes(&strings);

	str row = row_of(columns, &arena);

	sample_set_init(&got, &scratch);
	assert_false(chunk_decode(row, &filter, &got, &samples, &err));
	assert_int_equal(err.code, ERR_INVALID);
	assert_string_equal(err.msg, "a row needs more than 1073741824 bytes of memory");
	assert_true(scratch.size < 2 * count);
}

/* The head is within the limit; the head and the slices together are not. */
static void rejects_slices_that_are_too_large_together(void **state)
{
	enum { LEN = CHUNK_RAW_MAX / 4 };
	AUTO_ARENA arena = { 0 }, scratch = { 0 };
	str columns[CHUNK_COLUMN_COUNT] = { 0 };
	struct buf none = { .arena = &arena };
	struct sample_set got;
	struct chunk_filter filter = all_of(&got);
	uint64_t samples;
	struct err err;

	(void)state;
	buf_varint(&none, 0);
	for (size_t i = 0; i < CHUNK_COLUMN_COUNT; i++)
		columns[i] = i < CHUNK_SERIES ? buf_bytes(&none)
					      : (str){ columns[CHUNK_SERIES].ptr, LEN };
	columns[CHUNK_SERIES].ptr = arena_array(&arena, char, LEN);
	for (size_t i = CHUNK_SERIES; i < CHUNK_COLUMN_COUNT; i++)
		columns[i].ptr = columns[CHUNK_SERIES].ptr;

	str row = row_of(columns, &arena);

	sample_set_init(&got, &scratch);
	assert_false(chunk_decode(row, &filter, &got, &samples, &err));
	assert_string_equal(err.msg,
			    "the columns of a row are more than 268435456 bytes, decompressed");
	assert_true(scratch.size < 1 << 20);
}

RUN_TESTS(TEST(rejects_every_row_with_a_flipped_byte),
	  TEST(rejects_wrong_counts_with_a_correct_checksum),
	  TEST(rejects_columns_that_are_too_large_together),
	  TEST(rejects_slices_that_are_too_large_together),
	  TEST(rejects_a_row_whose_tables_are_too_large))
