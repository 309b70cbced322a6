// SPDX-License-Identifier: Apache-2.0
#include "base/str.h"

#include <stdarg.h>
#include <stdio.h>

int str_compare(str a, str b)
{
	size_t shorter = a.len < b.len ? a.len : b.len;
	int order = shorter ? memcmp(a.ptr, b.ptr, shorter) : 0;

	if (order)
		return order;
	return (a.len > b.len) - (a.len < b.len);
}

bool str_starts_with(str s, str prefix)
{
	return s.len >= prefix.len && str_eq((str){ s.ptr, prefix.len }, prefix);
}

bool str_ends_with(str s, str suffix)
{
	return s.len >= suffix.len &&
	       str_eq((str){ s.ptr + (s.len - suffix.len), suffix.len }, suffix);
}

size_t str_find(str s, str needle)
{
	if (needle.len == 0)
		return 0;
	if (s.len < needle.len)
		return SIZE_MAX;

	const char *at = memmem(s.ptr, s.len, needle.ptr, needle.len);

	return at ? (size_t)(at - s.ptr) : SIZE_MAX;
}

str str_skip(str s, size_t n)
{
	if (n >= s.len)
		return (str){ 0 };
	return (str){ s.ptr + n, s.len - n };
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

str str_trim(str s)
{
	while (s.len && is_space(s.ptr[0]))
		s = (str){ s.ptr + 1, s.len - 1 };
	while (s.len && is_space(s.ptr[s.len - 1]))
		s.len--;
	return s;
}

str str_cut(str *s, char sep)
{
	const char *at = s->len ? memchr(s->ptr, sep, s->len) : NULL;
	str head = *s;

	if (!at) {
		*s = (str){ 0 };
		return head;
	}
	head.len = (size_t)(at - s->ptr);
	*s = (str){ at + 1, s->len - head.len - 1 };
	return head;
}

/* The value of the digit, or `base` if c is not a digit in this base. */
static unsigned int digit(char c, unsigned int base)
{
	unsigned int value = base;

	if (c >= '0' && c <= '9')
		value = (unsigned int)(c - '0');
	else if (c >= 'a' && c <= 'f')
		value = (unsigned int)(c - 'a') + 10;
	else if (c >= 'A' && c <= 'F')
		value = (unsigned int)(c - 'A') + 10;
	return value < base ? value : base;
}

static bool to_u64(str s, unsigned int base, uint64_t *ret_value)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s.len; i++) {
		unsigned int value = digit(s.ptr[i], base);

		if (value == base)
			return false;
		if (__builtin_mul_overflow(n, base, &n) || __builtin_add_overflow(n, value, &n))
			return false;
	}
	if (s.len == 0)
		return false;
	*ret_value = n;
	return true;
}

bool str_to_u64(str s, uint64_t *ret_value)
{
	return to_u64(s, 10, ret_value);
}

bool str_hex_to_u64(str s, uint64_t *ret_value)
{
	return to_u64(s, 16, ret_value);
}

bool str_to_i64(str s, int64_t *ret_value)
{
	bool negative = s.len && s.ptr[0] == '-';
	uint64_t n;

	if (!to_u64(negative ? str_skip(s, 1) : s, 10, &n) || n > (uint64_t)INT64_MAX + negative)
		return false;
	*ret_value = (int64_t)(negative ? 0 - n : n);
	return true;
}

/* The number of bytes that follow the lead byte, or -1 if it is not a lead byte. *min is the lowest
 * code point that may be encoded in this length. */
static int utf8_tail(unsigned char lead, uint32_t *point, uint32_t *min)
{
	if (lead < 0x80) {
		*point = lead;
		*min = 0;
		return 0;
	}
	if ((lead & 0xe0) == 0xc0) {
		*point = lead & 0x1f;
		*min = 0x80;
		return 1;
	}
	if ((lead & 0xf0) == 0xe0) {
		*point = lead & 0x0f;
		*min = 0x800;
		return 2;
	}
	if ((lead & 0xf8) == 0xf0) {
		*point = lead & 0x07;
		*min = 0x10000;
		return 3;
	}
	return -1;
}

size_t str_utf8_len(str s)
{
	uint32_t point, min;
	int tail = s.len ? utf8_tail((unsigned char)s.ptr[0], &point, &min) : -1;

	if (tail < 0 || s.len - 1 < (size_t)tail)
		return 0;
	for (int i = 1; i <= tail; i++) {
		unsigned char byte = (unsigned char)s.ptr[i];

		if ((byte & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (byte & 0x3f);
	}
	if (point < min || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
		return 0;
	return (size_t)tail + 1;
}

bool str_is_utf8(str s)
{
	for (size_t len; s.len; s = str_skip(s, len)) {
		len = str_utf8_len(s);
		if (!len)
			return false;
	}
	return true;
}

const char *str_z(struct arena *arena, str s)
{
	char *z = arena_array(arena, char, s.len + 1);

	if (s.len)
		memcpy(z, s.ptr, s.len);
	return z;
}

str str_copy(struct arena *arena, str s)
{
	return (str){ str_z(arena, s), s.len };
}

str str_format(struct arena *arena, const char *fmt, ...)
{
	va_list args, again;

	va_start(args, fmt);
	va_copy(again, args);

	int len = vsnprintf(NULL, 0, fmt, args);

	va_end(args);
	if (len < 0) {
		va_end(again);
		return (str){ 0 };
	}

	char *text = arena_array(arena, char, (size_t)len + 1);

	vsnprintf(text, (size_t)len + 1, fmt, again);
	va_end(again);
	return (str){ text, (size_t)len };
}

str str_hex(struct arena *arena, str bytes)
{
	static const char digits[] = "0123456789abcdef";
	char *hex = arena_array(arena, char, bytes.len * 2 + 1);

	for (size_t i = 0; i < bytes.len; i++) {
		hex[2 * i] = digits[(unsigned char)bytes.ptr[i] >> 4];
		hex[2 * i + 1] = digits[(unsigned char)bytes.ptr[i] & 15];
	}
	return (str){ hex, bytes.len * 2 };
}
