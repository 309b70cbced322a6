// SPDX-License-Identifier: Apache-2.0
#include "client/postgres_value.h"

#include "base/reader.h"

#include <endian.h>

enum {
	DAYS_1970_TO_2000 = 10957,
	NUMBER_MAX = 8,
};
#define MS_1970_TO_2000 INT64_C(946684800000)

static void put_u16(struct buf *out, uint16_t value)
{
	value = htobe16(value);
	buf_bytes_add(out, &value, sizeof(value));
}

static void put_u32(struct buf *out, uint32_t value)
{
	value = htobe32(value);
	buf_bytes_add(out, &value, sizeof(value));
}

static void put_u64(struct buf *out, uint64_t value)
{
	value = htobe64(value);
	buf_bytes_add(out, &value, sizeof(value));
}

static int32_t date_of(int64_t day)
{
	return (int32_t)(day - DAYS_1970_TO_2000);
}

static int64_t time_of(uint64_t unix_ms)
{
	return ((int64_t)unix_ms - MS_1970_TO_2000) * 1000;
}

struct postgres_param postgres_i64(struct arena *arena, int64_t value)
{
	struct buf out = { .arena = arena };

	put_u64(&out, (uint64_t)value);
	return (struct postgres_param){ POSTGRES_INT8, buf_bytes(&out) };
}

struct postgres_param postgres_date(struct arena *arena, int64_t day)
{
	struct buf out = { .arena = arena };

	put_u32(&out, (uint32_t)date_of(day));
	return (struct postgres_param){ POSTGRES_DATE, buf_bytes(&out) };
}

struct postgres_param postgres_time(struct arena *arena, uint64_t unix_ms)
{
	struct buf out = { .arena = arena };

	put_u64(&out, (uint64_t)time_of(unix_ms));
	return (struct postgres_param){ POSTGRES_TIMESTAMPTZ, buf_bytes(&out) };
}

/* An empty value is not NULL. */
static str not_null(str value)
{
	return value.ptr ? value : STR("");
}

struct postgres_param postgres_text(str value)
{
	return (struct postgres_param){ POSTGRES_TEXT, not_null(value) };
}

struct postgres_param postgres_bytea(str value)
{
	return (struct postgres_param){ POSTGRES_BYTEA, not_null(value) };
}

/* Number of dimensions, no NULLs, element type; length and lower bound of the dimension. */
static struct buf array_begin(struct arena *arena, enum postgres_type element, size_t count)
{
	struct buf out = { .arena = arena };

	put_u32(&out, count ? 1 : 0);
	put_u32(&out, 0);
	put_u32(&out, element);
	if (count) {
		put_u32(&out, (uint32_t)count);
		put_u32(&out, 1);
	}
	return out;
}

struct postgres_param postgres_i64s(struct arena *arena, const int64_t *values, size_t count)
{
	struct buf out = array_begin(arena, POSTGRES_INT8, count);

	for (size_t i = 0; i < count; i++)
		postgres_copy_i64(&out, values[i]);
	return (struct postgres_param){ POSTGRES_INT8_ARRAY, buf_bytes(&out) };
}

struct postgres_param postgres_i32s(struct arena *arena, const int32_t *values, size_t count)
{
	struct buf out = array_begin(arena, POSTGRES_INT4, count);

	for (size_t i = 0; i < count; i++)
		postgres_copy_i32(&out, values[i]);
	return (struct postgres_param){ POSTGRES_INT4_ARRAY, buf_bytes(&out) };
}

struct postgres_param postgres_dates(struct arena *arena, const int64_t *days, size_t count)
{
	struct buf out = array_begin(arena, POSTGRES_DATE, count);

	for (size_t i = 0; i < count; i++)
		postgres_copy_date(&out, days[i]);
	return (struct postgres_param){ POSTGRES_DATE_ARRAY, buf_bytes(&out) };
}

struct postgres_param postgres_times(struct arena *arena, const uint64_t *unix_ms, size_t count)
{
	struct buf out = array_begin(arena, POSTGRES_TIMESTAMPTZ, count);

	for (size_t i = 0; i < count; i++)
		postgres_copy_time(&out, unix_ms[i]);
	return (struct postgres_param){ POSTGRES_TIMESTAMPTZ_ARRAY, buf_bytes(&out) };
}

struct postgres_param postgres_texts(struct arena *arena, const str *values, size_t count)
{
	struct buf out = array_begin(arena, POSTGRES_TEXT, count);

	for (size_t i = 0; i < count; i++)
		postgres_copy_bytes(&out, values[i]);
	return (struct postgres_param){ POSTGRES_TEXT_ARRAY, buf_bytes(&out) };
}

struct postgres_param postgres_byteas(struct arena *arena, const str *values, size_t count)
{
	struct buf out = array_begin(arena, POSTGRES_BYTEA, count);

	for (size_t i = 0; i < count; i++)
		postgres_copy_bytes(&out, values[i]);
	return (struct postgres_param){ POSTGRES_BYTEA_ARRAY, buf_bytes(&out) };
}

struct postgres_param postgres_tids(struct arena *arena, const str *values, size_t count)
{
	struct buf out = array_begin(arena, POSTGRES_TID, count);

	for (size_t i = 0; i < count; i++)
		postgres_copy_bytes(&out, values[i]);
	return (struct postgres_param){ POSTGRES_TID_ARRAY, buf_bytes(&out) };
}

/* Signature, flags, length of the header extension. */
void postgres_copy_begin(struct buf *out)
{
	buf_str(out, STR("PGCOPY\n\377\r\n\0"));
	put_u32(out, 0);
	put_u32(out, 0);
}

void postgres_copy_row(struct buf *out, uint16_t columns)
{
	put_u16(out, columns);
}

void postgres_copy_bool(struct buf *out, bool value)
{
	put_u32(out, 1);
	buf_u8(out, value);
}

void postgres_copy_i32(struct buf *out, int32_t value)
{
	put_u32(out, sizeof(value));
	put_u32(out, (uint32_t)value);
}

void postgres_copy_i64(struct buf *out, int64_t value)
{
	put_u32(out, sizeof(value));
	put_u64(out, (uint64_t)value);
}

void postgres_copy_date(struct buf *out, int64_t day)
{
	postgres_copy_i32(out, date_of(day));
}

void postgres_copy_time(struct buf *out, uint64_t unix_ms)
{
	postgres_copy_i64(out, time_of(unix_ms));
}

void postgres_copy_bytes(struct buf *out, str value)
{
	put_u32(out, (uint32_t)value.len);
	buf_str(out, value);
}

void postgres_copy_end(struct buf *out)
{
	put_u16(out, UINT16_MAX);
}

static uint64_t big_endian(str bytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes.len; i++)
		value = value << 8 | (unsigned char)bytes.ptr[i];
	return value;
}

int64_t postgres_number(str bytes)
{
	uint64_t value = bytes.len <= NUMBER_MAX ? big_endian(bytes) : 0;

	switch (bytes.len) {
	case 2:
		return (int16_t)value;
	case 4:
		return (int32_t)value;
	case 8:
		return (int64_t)value;
	default:
		return 0;
	}
}

bool postgres_i64s_read(str bytes, struct arena *arena, int64_t **ret_values, size_t *ret_count)
{
	struct reader r = reader_of(bytes);
	uint64_t dimensions = big_endian(reader_bytes(&r, 4));
	uint64_t has_null = big_endian(reader_bytes(&r, 4));
	uint64_t element = big_endian(reader_bytes(&r, 4));

	if (r.failed || dimensions > 1 || has_null || element != POSTGRES_INT8)
		return false;

	uint64_t count = dimensions ? big_endian(reader_bytes(&r, 4)) : 0;

	reader_bytes(&r, dimensions ? 4 : 0);
	if (r.failed || count > reader_left(&r) / (4 + sizeof(int64_t)))
		return false;

	int64_t *values = arena_array(arena, int64_t, count);

	for (size_t i = 0; i < count; i++) {
		uint64_t len = big_endian(reader_bytes(&r, 4));

		if (len != sizeof(int64_t))
			return false;
		values[i] = postgres_number(reader_bytes(&r, sizeof(int64_t)));
	}
	if (r.failed)
		return false;
	*ret_values = values;
	*ret_count = (size_t)count;
	return true;
}
