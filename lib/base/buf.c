// SPDX-License-Identifier: Apache-2.0
#include "base/buf.h"

#include <endian.h>
#include <stdarg.h>
#include <stdio.h>

char *buf_reserve(struct buf *buf, size_t n)
{
	if (!buf->ptr || n > buf->cap - buf->len) {
		size_t cap = buf->cap ? buf->cap * 2 : 256;

		while (n > cap - buf->len)
			cap *= 2; /* the arena ends the process long before this wraps */

		char *ptr = arena_array(buf->arena, char, cap);

		if (buf->ptr)
			memcpy(ptr, buf->ptr, buf->len);
		buf->ptr = ptr;
		buf->cap = cap;
	}
	return buf->ptr + buf->len;
}

void buf_bytes_add(struct buf *buf, const void *bytes, size_t n)
{
	if (n == 0)
		return;
	memcpy(buf_reserve(buf, n), bytes, n);
	buf->len += n;
}

void buf_u8(struct buf *buf, uint8_t value)
{
	buf_bytes_add(buf, &value, sizeof(value));
}

void buf_u16(struct buf *buf, uint16_t value)
{
	value = htole16(value);
	buf_bytes_add(buf, &value, sizeof(value));
}

void buf_u32(struct buf *buf, uint32_t value)
{
	value = htole32(value);
	buf_bytes_add(buf, &value, sizeof(value));
}

void buf_u64(struct buf *buf, uint64_t value)
{
	value = htole64(value);
	buf_bytes_add(buf, &value, sizeof(value));
}

void buf_varint(struct buf *buf, uint64_t value)
{
	unsigned char *at = (unsigned char *)buf_reserve(buf, 10);
	size_t n = 0;

	while (value >= 0x80) {
		at[n++] = (unsigned char)(value | 0x80);
		value >>= 7;
	}
	at[n++] = (unsigned char)value;
	buf->len += n;
}

void buf_zigzag(struct buf *buf, int64_t value)
{
	buf_varint(buf, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

void buf_str(struct buf *buf, str s)
{
	buf_bytes_add(buf, s.ptr, s.len);
}

void buf_str_prefixed(struct buf *buf, str s)
{
	buf_varint(buf, s.len);
	buf_str(buf, s);
}

void buf_format(struct buf *buf, const char *fmt, ...)
{
	va_list args, again;

	va_start(args, fmt);
	va_copy(again, args);

	int len = vsnprintf(NULL, 0, fmt, args);

	va_end(args);
	if (len > 0) {
		vsnprintf(buf_reserve(buf, (size_t)len + 1), (size_t)len + 1, fmt, again);
		buf->len += (size_t)len;
	}
	va_end(again);
}
