// SPDX-License-Identifier: Apache-2.0
/*
 * buf - a growable byte buffer in an arena, for encoders.
 *
 *     struct buf out = { .arena = &arena };
 *     buf_u32(&out, version);
 *     buf_str(&out, payload);
 *     return buf_bytes(&out);
 *
 * Initialise a buf with its arena and nothing else. The arena owns the bytes, so nothing is closed,
 * and no function fails. All functions that add bytes copy them. When the buffer grows, its bytes
 * are copied and the old ones stay in the arena until it is reset. One thread.
 *
 * Integers are little endian; a varint is encoded as in protobuf (7 bits per byte, low bits first),
 * a zigzag varint as protobuf's sint64.
 */
#pragma once

#include "base/str.h"

struct buf {
	struct arena *arena;
	char *ptr;
	size_t len, cap;
};

/* Return a pointer to n bytes after the current end. The caller writes up to n bytes and adds their
 * number to `len`. The pointer is valid until the next call that adds or reserves bytes. */
char *buf_reserve(struct buf *buf, size_t n);

void buf_bytes_add(struct buf *buf, const void *bytes, size_t n);
void buf_u8(struct buf *buf, uint8_t value);
void buf_u16(struct buf *buf, uint16_t value);
void buf_u32(struct buf *buf, uint32_t value);
void buf_u64(struct buf *buf, uint64_t value);
void buf_varint(struct buf *buf, uint64_t value);
void buf_zigzag(struct buf *buf, int64_t value);
void buf_str(struct buf *buf, str s);          /* without a length */
void buf_str_prefixed(struct buf *buf, str s); /* varint length, then bytes */
void buf_format(struct buf *buf, const char *fmt, ...) PRINTF_LIKE(2, 3); /* printf(), no NUL */

/* The bytes so far, borrowed from the arena. Bytes that are added later are not part of the str. */
static inline str buf_bytes(const struct buf *buf)
{
	return (str){ buf->ptr, buf->len };
}
