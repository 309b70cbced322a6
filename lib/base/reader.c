// SPDX-License-Identifier: Apache-2.0
#include "base/reader.h"

#include <endian.h>

enum { VARINT_MAX = 10 }; /* bytes */

void reader_fail(struct reader *r)
{
	r->failed = true;
	r->rest = (str){ 0 };
}

str reader_bytes(struct reader *r, size_t n)
{
	if (n > r->rest.len) {
		reader_fail(r);
		return (str){ 0 };
	}
	if (n == 0) /* ptr may be NULL: no arithmetic on it */
		return (str){ r->rest.ptr, 0 };

	str bytes = { r->rest.ptr, n };

	r->rest = (str){ r->rest.ptr + n, r->rest.len - n };
	return bytes;
}

/* Copy n bytes to `to`; after a failure `to` is unchanged. */
static void copy_out(struct reader *r, void *to, size_t n)
{
	str bytes = reader_bytes(r, n);

	if (bytes.len)
		memcpy(to, bytes.ptr, bytes.len);
}

uint8_t reader_u8(struct reader *r)
{
	uint8_t value = 0;

	copy_out(r, &value, sizeof(value));
	return value;
}

uint16_t reader_u16(struct reader *r)
{
	uint16_t value = 0;

	copy_out(r, &value, sizeof(value));
	return le16toh(value);
}

uint32_t reader_u32(struct reader *r)
{
	uint32_t value = 0;

	copy_out(r, &value, sizeof(value));
	return le32toh(value);
}

uint64_t reader_u64(struct reader *r)
{
	uint64_t value = 0;

	copy_out(r, &value, sizeof(value));
	return le64toh(value);
}

uint64_t reader_varint_slow(struct reader *r)
{
	size_t len = r->rest.len < VARINT_MAX ? r->rest.len : VARINT_MAX;
	uint64_t value = 0;

	for (size_t i = 0; i < len; i++) {
		uint64_t byte = (unsigned char)r->rest.ptr[i];

		if (i == VARINT_MAX - 1 && byte > 1)
			break; /* more than 64 bits */
		value |= (byte & 0x7f) << (7 * i);
		if (byte < 0x80) {
			r->rest = (str){ r->rest.ptr + i + 1, r->rest.len - i - 1 };
			return value;
		}
	}
	reader_fail(r);
	return 0;
}

int64_t reader_zigzag(struct reader *r)
{
	uint64_t value = reader_varint(r);

	return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

str reader_str_prefixed(struct reader *r)
{
	uint64_t len = reader_varint(r);

	if (len > r->rest.len) {
		reader_fail(r);
		return (str){ 0 };
	}
	return reader_bytes(r, (size_t)len);
}

/* The last byte of a varint is below 128: count these bytes, eight at a time. */
void reader_skip_varints(struct reader *r, uint64_t count)
{
	size_t at = 0;

	for (uint64_t word; count >= sizeof(word) && r->rest.len - at >= sizeof(word);
	     at += sizeof(word)) {
		memcpy(&word, r->rest.ptr + at, sizeof(word));
		count -= (uint64_t)__builtin_popcountll(~word & UINT64_C(0x8080808080808080));
	}
	for (; count && at < r->rest.len; at++)
		count -= (unsigned char)r->rest.ptr[at] < 0x80;
	if (count)
		reader_fail(r);
	else
		r->rest = str_skip(r->rest, at);
}
