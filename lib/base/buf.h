// SPDX-License-Identifier: Apache-2.0
/*
 * buf - a growing run of bytes in an arena: what encoders write into.
 *
 *     struct buf out = { .arena = &arena };
 *     buf_u32(&out, version);
 *     buf_str(&out, payload);
 *     return buf_bytes(&out);
 *
 * Integers are little endian; a varint is protobuf's (7 bits a byte, low ones first). Growing
 * copies and leaves the old room to the arena.
 */
#pragma once

#include "base/str.h"

struct buf {
	struct arena *arena;
	char *ptr;
	size_t len, cap;
};

/* Room for n more bytes at the end, which the caller writes and then adds to len. */
char *buf_reserve(struct buf *buf, size_t n);

void buf_bytes_add(struct buf *buf, const void *bytes, size_t n);
void buf_u8(struct buf *buf, uint8_t value);
void buf_u16(struct buf *buf, uint16_t value);
void buf_u32(struct buf *buf, uint32_t value);
void buf_u64(struct buf *buf, uint64_t value);
void buf_varint(struct buf *buf, uint64_t value);
void buf_zigzag(struct buf *buf, int64_t value);
void buf_str(struct buf *buf, str s);                                     /* the bytes alone */
void buf_str_prefixed(struct buf *buf, str s);                            /* varint length, bytes */
void buf_format(struct buf *buf, const char *fmt, ...) PRINTF_LIKE(2, 3); /* text, no NUL */

static inline str buf_bytes(const struct buf *buf)
{
	return (str){ buf->ptr, buf->len };
}
