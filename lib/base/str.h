// SPDX-License-Identifier: Apache-2.0
/*
 * str - a borrowed string: pointer and length, not necessarily NUL-terminated.
 *
 * A str owns no memory. It points into an arena, a mapped file, a message or a literal, and is
 * valid as long as that is. It is copied by value. It may hold any bytes; input that must be UTF-8
 * is checked with str_is_utf8() where it enters the program. The empty str may have a NULL ptr.
 * Functions without an arena return parts of their argument and copy nothing. Any thread.
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

/* Borrow a C string; NULL becomes the empty str. */
static inline str str_from(const char *z)
{
	return (str){ z, z ? strlen(z) : 0 };
}

static inline bool str_eq(str a, str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* Order by bytes as memcmp() does; a prefix sorts before the longer string. */
int str_compare(str a, str b);

bool str_starts_with(str s, str prefix);
bool str_ends_with(str s, str suffix);

/* The offset of the first occurrence of needle in s, or SIZE_MAX. */
size_t str_find(str s, str needle);

/* s without its first n bytes; empty if s is not longer than n. */
str str_skip(str s, size_t n);

/* s without leading and trailing ASCII white space. */
str str_trim(str s);

/* Split *s at the first sep: returns the bytes before it and sets *s to the bytes after it. Without
 * a sep, returns all of *s and sets *s to empty with a NULL ptr. */
str str_cut(str *s, char sep);

/* Parse all of s as an unsigned number: decimal, or hexadecimal without 0x. False: s is empty, has
 * another character, or the number is too large; *ret_value is unchanged. */
bool str_to_u64(str s, uint64_t *ret_value) MUST_CHECK;
bool str_hex_to_u64(str s, uint64_t *ret_value) MUST_CHECK;

/* Parse all of s as a decimal number with an optional minus sign. False: as for str_to_u64(). */
bool str_to_i64(str s, int64_t *ret_value) MUST_CHECK;

/* Well-formed UTF-8 as Unicode defines it (no surrogates, no overlong forms); NUL is allowed. */
bool str_is_utf8(str s);

/* The length of the UTF-8 character at the beginning of s; 0: malformed, or s is empty. */
size_t str_utf8_len(str s);

/* A NUL-terminated copy, for functions that take C strings. */
const char *str_z(struct arena *arena, str s);

/* A copy in the arena, with a NUL after its last byte. */
str str_copy(struct arena *arena, str s);

/* Format as printf() does. The text is in the arena and has a NUL after its last byte. */
str str_format(struct arena *arena, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The bytes in lower-case hexadecimal, in the arena. */
str str_hex(struct arena *arena, str bytes);
