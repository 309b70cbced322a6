// SPDX-License-Identifier: Apache-2.0
/*
 * reader - the one way in for foreign bytes: bounds-checked, front to back.
 *
 * A read past the end returns 0 or an empty str, sets `failed` and leaves nothing to read, so a
 * parser reads what it needs and looks at `failed` once before it believes any of it.
 *
 *     struct reader r = reader_of(image);
 *     uint32_t length = reader_u32(&r);
 *     if (r.failed)
 *             return err_set(err, ERR_INVALID, "truncated header");
 *
 * Integers are little endian; a varint is protobuf's, of at most 10 bytes.
 */
#pragma once

#include "base/str.h"

struct reader {
	str rest;    /* what has not been read yet */
	bool failed; /* a read went past the end, or a varint was malformed */
};

static inline struct reader reader_of(str bytes)
{
	return (struct reader){ .rest = bytes };
}

static inline size_t reader_left(const struct reader *r)
{
	return r->rest.len;
}

/* Take the rest away and remember that the input was bad. */
void reader_fail(struct reader *r);

uint8_t reader_u8(struct reader *r);
uint16_t reader_u16(struct reader *r);
uint32_t reader_u32(struct reader *r);
uint64_t reader_u64(struct reader *r);
uint64_t reader_varint_slow(struct reader *r);
int64_t reader_zigzag(struct reader *r);
void reader_skip_varints(struct reader *r, uint64_t count); /* whatever they say */
str reader_bytes(struct reader *r, size_t n);
str reader_str_prefixed(struct reader *r); /* varint length, bytes */

/* Most varints are one or two bytes long. */
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
