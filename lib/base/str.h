// SPDX-License-Identifier: Apache-2.0
/*
 * str - a borrowed piece of text: pointer and length, never NUL-terminated by promise.
 *
 * A str owns nothing. It points into an arena, a mapped file, a message or a literal, and lives as
 * long as that does. Copy it by value. It may hold any bytes; text that must be UTF-8 is checked
 * with str_is_utf8() where it enters.
 */
#pragma once

#include "base/arena.h"

#include <string.h>

typedef struct {
	const char *ptr;
	size_t len;
} str;

#define STR(literal) ((str){ "" literal, sizeof(literal) - 1 })
#define STR_FMT      "%.*s"
#define STR_ARG(s)   (int)(s).len, (s).ptr

static inline str str_from(const char *z)
{
	return (str){ z, z ? strlen(z) : 0 };
}

static inline bool str_eq(str a, str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Order by bytes, as memcmp(), a prefix before what it begins. */
int str_compare(str a, str b);

bool str_starts_with(str s, str prefix);
bool str_ends_with(str s, str suffix);

/* Where needle first stands in s, or SIZE_MAX. */
size_t str_find(str s, str needle);

/* s without its first n bytes; empty when it has no more. */
str str_skip(str s, size_t n);

/* s without ASCII white space at both ends. */
str str_trim(str s);

/* Split s at the first sep: the part before it is returned, s becomes the part after it. */
str str_cut(str *s, char sep);

/* True and *ret_value set when all of s is a decimal (or hexadecimal, no 0x) number that fits. */
bool str_to_u64(str s, uint64_t *ret_value) MUST_CHECK;
bool str_hex_to_u64(str s, uint64_t *ret_value) MUST_CHECK;

/* A decimal number with an optional minus sign. */
bool str_to_i64(str s, int64_t *ret_value) MUST_CHECK;

/* Well-formed UTF-8 as Unicode defines it (no surrogates, no overlong forms); NUL is allowed. */
bool str_is_utf8(str s);

/* A NUL-terminated copy, for calls that want C strings. */
const char *str_z(struct arena *arena, str s);

/* A copy that lives as long as the arena. */
str str_copy(struct arena *arena, str s);

/* printf() into the arena. */
str str_format(struct arena *arena, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Lower-case hexadecimal of the bytes. */
str str_hex(struct arena *arena, str bytes);
