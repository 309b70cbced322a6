// SPDX-License-Identifier: Apache-2.0
/*
 * reader - a bounds-checked cursor over untrusted bytes, read front to back.
 *
 * A read past the end returns 0 or an empty str, sets `failed` and discards the remaining bytes. A
 * parser can therefore read several values and check `failed` once before it uses them. The bytes
 * are borrowed: returned strs point into them.
 *
 *     struct reader r = reader_of(image);
 *     uint32_t length = reader_u32(&r);
 *     if (r.failed)
 *             return err_set(err, ERR_INVALID, "truncated header");
 *
 * Integers are little endian; a varint is encoded as in protobuf, in at most 10 bytes. A reader
 * allocates nothing and is not closed. One thread.
 */
#pragma once

#include "base/str.h"

struct reader {
	str rest;    /* the bytes not read yet */
	bool failed; /* a read passed the end, or a varint was malformed */
};

static inline struct reader reader_of(str bytes)
{
	return (struct reader){ .rest = bytes };
}

/* The number of bytes not read yet. */
static inline size_t reader_left(const struct reader *r)
{
	return r->rest.len;
}

/* Set `failed` and discard the remaining bytes: the caller found the input malformed. */
void reader_fail(struct reader *r);

uint8_t reader_u8(struct reader *r);
uint16_t reader_u16(struct reader *r);
uint32_t reader_u32(struct reader *r);
uint64_t reader_u64(struct reader *r);
uint64_t reader_varint_slow(struct reader *r);
int64_t reader_zigzag(struct reader *r);
void reader_skip_varints(struct reader *r, uint64_t count); /* does not check their length */
str reader_bytes(struct reader *r, size_t n);
str reader_str_prefixed(struct reader *r); /* varint length, then bytes */

/* Read a varint. Inline for one and two bytes, the most frequent lengths. */
static inline uint64_t reader_varint(struct reader *r)
{
	const unsigned char *at = (const unsigned char *)r->rest.ptr;

	if (r->rest.len && at[0] < 0x80) {
		r->rest = (str){ r->rest.ptr + 1, r->rest.len - 1 };
		return at[0];
	}
	if (r->rest.len > 1 && at[1] < 0x80) {
		r->rest = (str){ r->rest.ptr + 2, r->rest.len - 2 };
		return (uint64_t)at[1] << 7 | (at[0] & 0x7f);
	}
	return reader_varint_slow(r);
}
