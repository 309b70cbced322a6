// SPDX-License-Identifier: Apache-2.0
/*
 * postgres_value - encodes parameters, arrays and COPY rows in PostgreSQL's binary format.
 *
 * No I/O, no state: any thread. Parameters are allocated in the arena; their encoding cannot fail.
 * Numbers are big endian on the wire. A date is days
 * since 1970 in this API and since 2000 on the wire; a time is milliseconds since 1970 in this API
 * and microseconds since 2000 on the wire.
 */
#pragma once

#include "base/buf.h"

/* Object ids of types, from pg_type.dat; they never change. */
enum postgres_type {
	POSTGRES_BOOL = 16,
	POSTGRES_BYTEA = 17,
	POSTGRES_INT8 = 20,
	POSTGRES_INT4 = 23,
	POSTGRES_TEXT = 25,
	POSTGRES_DATE = 1082,
	POSTGRES_TIMESTAMPTZ = 1184,
	POSTGRES_TID = 27,
	POSTGRES_TID_ARRAY = 1010,
	POSTGRES_INT4_ARRAY = 1007,
	POSTGRES_TEXT_ARRAY = 1009,
	POSTGRES_BYTEA_ARRAY = 1001,
	POSTGRES_INT8_ARRAY = 1016,
	POSTGRES_DATE_ARRAY = 1182,
	POSTGRES_TIMESTAMPTZ_ARRAY = 1185,
};

struct postgres_param {
	enum postgres_type type;
	str bytes; /* a NULL ptr: NULL */
};

struct postgres_param postgres_i64(struct arena *arena, int64_t value);
struct postgres_param postgres_date(struct arena *arena, int64_t day);
struct postgres_param postgres_time(struct arena *arena, uint64_t unix_ms);

/* The parameter borrows the value. An empty value is not NULL. */
struct postgres_param postgres_text(str value);
struct postgres_param postgres_bytea(str value);

/* Arrays. The values are copied into the arena. */
struct postgres_param postgres_i64s(struct arena *arena, const int64_t *values, size_t count);
struct postgres_param postgres_i32s(struct arena *arena, const int32_t *values, size_t count);
struct postgres_param postgres_dates(struct arena *arena, const int64_t *days, size_t count);
struct postgres_param postgres_times(struct arena *arena, const uint64_t *unix_ms, size_t count);
struct postgres_param postgres_texts(struct arena *arena, const str *values, size_t count);
struct postgres_param postgres_byteas(struct arena *arena, const str *values, size_t count);
/* Row identifiers (ctid), in the form in which a result contains them. */
struct postgres_param postgres_tids(struct arena *arena, const str *values, size_t count);

/* Data of COPY ... (FORMAT binary): postgres_copy_begin(); for each row postgres_copy_row() and
 * then each column; postgres_copy_end(). */
void postgres_copy_begin(struct buf *out);
void postgres_copy_row(struct buf *out, uint16_t columns);
void postgres_copy_bool(struct buf *out, bool value);
void postgres_copy_i32(struct buf *out, int32_t value);
void postgres_copy_i64(struct buf *out, int64_t value);
void postgres_copy_date(struct buf *out, int64_t day); /* since 1970 */
void postgres_copy_time(struct buf *out, uint64_t unix_ms);
void postgres_copy_bytes(struct buf *out, str value);
void postgres_copy_end(struct buf *out);

/* Decode a signed number of 2, 4 or 8 bytes; 0 for any other length. */
int64_t postgres_number(str bytes);

/* Decode a one-dimensional array of int8 without NULLs. False: not such an array. */
bool postgres_i64s_read(str bytes, struct arena *arena, int64_t **ret_values,
			size_t *ret_count) MUST_CHECK;
