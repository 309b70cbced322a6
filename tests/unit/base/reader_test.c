// SPDX-License-Identifier: Apache-2.0
#include "base/buf.h"
#include "base/reader.h"
#include "support/test.h"

static void reads_back_what_buf_wrote(void **state)
{
	static const uint64_t values[] = { 0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX };
	AUTO_ARENA arena = { 0 };
	struct buf out = { .arena = &arena };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		buf_varint(&out, values[i]);
		buf_zigzag(&out, (int64_t)values[i]);
		buf_u8(&out, (uint8_t)values[i]);
		buf_u16(&out, (uint16_t)values[i]);
		buf_u32(&out, (uint32_t)values[i]);
		buf_u64(&out, values[i]);
		buf_str_prefixed(&out, STR("text"));
	}

	struct reader r = reader_of(buf_bytes(&out));

	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		assert_true(reader_varint(&r) == values[i]);
		assert_true(reader_zigzag(&r) == (int64_t)values[i]);
		assert_int_equal(reader_u8(&r), (uint8_t)values[i]);
		assert_int_equal(reader_u16(&r), (uint16_t)values[i]);
		assert_true(reader_u32(&r) == (uint32_t)values[i]);
		assert_true(reader_u64(&r) == values[i]);
		assert_true(str_eq(reader_str_prefixed(&r), STR("text")));
	}
	assert_false(r.failed);
	assert_int_equal(reader_left(&r), 0);
}

static void fails_at_the_end_and_stays_failed(void **state)
{
	struct reader r = reader_of(STR("\x01\x02\x03"));

	(void)state;
	assert_int_equal(reader_u16(&r), 0x0201);
	assert_int_equal(reader_u16(&r), 0);
	assert_true(r.failed);
	assert_int_equal(reader_u8(&r), 0);
	assert_int_equal(reader_left(&r), 0);
}

/* Adding 0 to a NULL pointer is undefined behaviour, which clang's sanitizer reports. */
static void reads_no_bytes_from_an_empty_input(void **state)
{
	struct reader r = reader_of((str){ 0 });

	(void)state;
	assert_int_equal(reader_bytes(&r, 0).len, 0);
	assert_false(r.failed);
	assert_int_equal(reader_u8(&r), 0);
	assert_int_equal(reader_bytes(&r, 0).len, 0);
	assert_true(r.failed);
}

static void rejects_varints_of_more_than_64_bits(void **state)
{
	static const str bad[] = {
		STR("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),     /* bit 65 */
		STR("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), /* eleven bytes */
		STR("\x80"),                                         /* truncated */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct reader r = reader_of(bad[i]);

		assert_true(reader_varint(&r) == 0);
		assert_true(r.failed);
	}
}

static void rejects_a_length_beyond_the_end(void **state)
{
	struct reader r = reader_of(STR("\x05text"));

	(void)state;
	assert_int_equal(reader_str_prefixed(&r).len, 0);
	assert_true(r.failed);
}

static void skips_the_same_varints_as_it_reads(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct buf out = { .arena = &arena };
	uint64_t chance = 7;

	(void)state;
	for (size_t i = 0; i < 300; i++) {
		chance = chance * UINT64_C(6364136223846793005) + 1442695040888963407;
		buf_varint(&out, chance >> (chance >> 58));
	}
	for (uint64_t count = 0; count <= 300; count++) {
		struct reader read = reader_of(buf_bytes(&out)), skip = read;

		for (uint64_t i = 0; i < count; i++)
			(void)reader_varint(&read);
		reader_skip_varints(&skip, count);
		assert_false(skip.failed);
		assert_int_equal(reader_left(&skip), reader_left(&read));
	}

	struct reader past = reader_of(buf_bytes(&out));

	reader_skip_varints(&past, 301);
	assert_true(past.failed);
	assert_int_equal(reader_left(&past), 0);
}

RUN_TESTS(TEST(skips_the_same_varints_as_it_reads), TEST(reads_back_what_buf_wrote),
	  TEST(fails_at_the_end_and_stays_failed), TEST(rejects_varints_of_more_than_64_bits),
	  TEST(rejects_a_length_beyond_the_end), TEST(reads_no_bytes_from_an_empty_input))
