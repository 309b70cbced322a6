#include "client/postgres_value.h"
#include "test.h"

static void assert_bytes(str got, const char *expected, size_t len)
{
	assert_int_equal(got.len, len);
	assert_memory_equal(got.ptr, expected, len);
}

static void writes_numbers_dates_and_times_as_the_server_counts_them(void **state)
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

static void reads_back_arrays_of_numbers(void **state)
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

static void refuses_other_arrays(void **state)
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

RUN_TESTS(TEST(writes_numbers_dates_and_times_as_the_server_counts_them),
	  TEST(an_empty_text_is_not_null), TEST(reads_back_arrays_of_numbers),
	  TEST(refuses_other_arrays), TEST(numbers_of_each_width_keep_their_sign))
