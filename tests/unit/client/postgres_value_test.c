// SPDX-License-Identifier: Apache-2.0
#include "client/postgres_value.h"
#include "support/test.h"

static void assert_bytes(str got, const char *expected, size_t len)
{
	assert_int_equal(got.len, len);
	assert_memory_equal(got.ptr, expected, len);
}

static void writes_numbers_dates_and_times_in_the_format_of_the_server(void **state)
{
	AUTO_ARENA arena = { 0 };

	(void)state;
	assert_bytes(postgres_i64(&arena, -2).bytes, "\xff\xff\xff\xff\xff\xff\xff\xfe", 8);
	assert_bytes(postgres_date(&arena, 10957).bytes, "\0\0\0\0", 4);
	assert_bytes(postgres_date(&arena, 10956).bytes, "\xff\xff\xff\xff", 4);
	assert_bytes(postgres_time(&arena, UINT64_C(946684800001)).bytes, "\0\0\0\0\0\0\x03\xe8",
		     8);
}

static void an_empty_text_is_not_null(void **state)
{
	(void)state;
	assert_non_null(postgres_text((str){ 0 }).bytes.ptr);
	assert_non_null(postgres_bytea((str){ 0 }).bytes.ptr);
}

static void reads_arrays_of_numbers(void **state)
{
	static const int64_t values[] = { INT64_MIN, -1, 0, 1, INT64_MAX };
	AUTO_ARENA arena = { 0 };
	int64_t *got;
	size_t count;

	(void)state;
	for (size_t n = 0; n <= ARRAY_LEN(values); n++) {
		str bytes = postgres_i64s(&arena, values, n).bytes;

		assert_true(postgres_i64s_read(bytes, &arena, &got, &count));
		assert_int_equal(count, n);
		assert_memory_equal(got, values, n * sizeof(*values));
		for (size_t len = 0; len < bytes.len; len++)
			assert_false(
				postgres_i64s_read((str){ bytes.ptr, len }, &arena, &got, &count));
	}
}

static void rejects_other_arrays(void **state)
{
	static const str texts[] = { { "a", 1 }, { "b", 1 } };
	static const int32_t numbers[] = { 1, 2 };
	AUTO_ARENA arena = { 0 };
	int64_t *got;
	size_t count;

	(void)state;
	assert_false(
		postgres_i64s_read(postgres_texts(&arena, texts, 2).bytes, &arena, &got, &count));
	assert_false(
		postgres_i64s_read(postgres_i32s(&arena, numbers, 2).bytes, &arena, &got, &count));
}

static void numbers_of_each_width_keep_their_sign(void **state)
{
	(void)state;
	assert_int_equal(postgres_number((str){ "\xff\xfe", 2 }), -2);
	assert_int_equal(postgres_number((str){ "\0\0\1\0", 4 }), 256);
	assert_int_equal(postgres_number((str){ "\xff\xff\xff\xff\xff\xff\xff\xff", 8 }), -1);
	assert_int_equal(postgres_number((str){ 0 }), 0);
	assert_int_equal(postgres_number((str){ "123", 3 }), 0);
}

/* The header, then for each element its length and its bytes. */
#define ARRAY_OF(type, count) "\0\0\0\1\0\0\0\0\0\0" type "\0\0\0" count "\0\0\0\1"

static void writes_an_array_of_each_type(void **state)
{
	static const int64_t days[] = { 10957, 10958 };
	static const uint64_t times[] = { UINT64_C(946684800001) };
	static const str texts[] = { { "ab", 2 }, { "", 0 } };
	static const char dates[] = ARRAY_OF("\x04\x3a", "\2") "\0\0\0\4\0\0\0\0\0\0\0\4\0\0\0\1";
	static const char stamps[] = ARRAY_OF("\x04\xa0", "\1") "\0\0\0\x8\0\0\0\0\0\0\x03\xe8";
	static const char bytes[] = ARRAY_OF("\0\x11", "\2") "\0\0\0\2ab\0\0\0\0";
	static const char places[] = ARRAY_OF("\0\x1b", "\2") "\0\0\0\2ab\0\0\0\0";
	AUTO_ARENA arena = { 0 };

	(void)state;
	assert_bytes(postgres_dates(&arena, days, 2).bytes, dates, sizeof(dates) - 1);
	assert_bytes(postgres_times(&arena, times, 1).bytes, stamps, sizeof(stamps) - 1);
	assert_bytes(postgres_byteas(&arena, texts, 2).bytes, bytes, sizeof(bytes) - 1);
	assert_bytes(postgres_tids(&arena, texts, 2).bytes, places, sizeof(places) - 1);
}

/* The format of a binary COPY in PostgreSQL's manual: rows of two and of three columns. */
static void writes_rows_in_the_format_of_copy(void **state)
{
	static const char expected[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0"
				       "\0\2\0\0\0\1\1\0\0\0\2hi"
				       "\0\3\0\0\0\4\xff\xff\xff\xff"
				       "\0\0\0\x8\0\0\0\0\0\0\0\5\0\0\0\x8\0\0\0\0\0\0\0\0"
				       "\xff\xff";
	AUTO_ARENA arena = { 0 };
	struct buf out = { .arena = &arena };

	(void)state;
	postgres_copy_begin(&out);
	postgres_copy_row(&out, 2);
	postgres_copy_bool(&out, true);
	postgres_copy_bytes(&out, STR("hi"));
	postgres_copy_row(&out, 3);
	postgres_copy_i32(&out, -1);
	postgres_copy_i64(&out, 5);
	postgres_copy_time(&out, UINT64_C(946684800000));
	postgres_copy_end(&out);
	assert_bytes(buf_bytes(&out), expected, sizeof(expected) - 1);
}

static void an_element_of_another_length_is_rejected(void **state)
{
	static const int64_t values[] = { 1, 2 };
	AUTO_ARENA arena = { 0 };
	str bytes = postgres_i64s(&arena, values, 2).bytes;
	char *copy = arena_array(&arena, char, bytes.len);
	int64_t *got;
	size_t count;

	(void)state;
	memcpy(copy, bytes.ptr, bytes.len);
	copy[23] = 4; /* the first one's length */
	assert_false(postgres_i64s_read((str){ copy, bytes.len }, &arena, &got, &count));
}

RUN_TESTS(TEST(writes_numbers_dates_and_times_in_the_format_of_the_server),
	  TEST(an_empty_text_is_not_null), TEST(reads_arrays_of_numbers),
	  TEST(rejects_other_arrays), TEST(numbers_of_each_width_keep_their_sign),
	  TEST(writes_an_array_of_each_type), TEST(writes_rows_in_the_format_of_copy),
	  TEST(an_element_of_another_length_is_rejected))
