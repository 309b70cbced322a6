// SPDX-License-Identifier: Apache-2.0
/*
 * protobuf - protobuf-c in an arena: nothing it allocates is freed one by one.
 *
 * Only for messages of ours and small ones: protobuf-c recurses without limit and inflates empty
 * messages, so what strangers write goes through a bounded reader instead (otlp_reader.c).
 */
#pragma once

#include "base/str.h"

#include <protobuf-c/protobuf-c.h>

static inline void *protobuf_alloc(void *arena, size_t size)
{
	return arena_alloc(arena, size, 1, _Alignof(max_align_t));
}

static inline void protobuf_free(void *arena, void *p)
{
	(void)arena, (void)p;
}

static inline ProtobufCAllocator protobuf_allocator(struct arena *arena)
{
	return (ProtobufCAllocator){ protobuf_alloc, protobuf_free, arena };
}

/* Fields of type bytes, which is how text is declared, from ours and to ours. */
static inline ProtobufCBinaryData protobuf_bytes(str s)
{
	return (ProtobufCBinaryData){ s.len, (uint8_t *)(uintptr_t)s.ptr };
}

static inline str protobuf_str(ProtobufCBinaryData bytes)
{
	return (str){ (const char *)bytes.data, bytes.len };
}

static inline str protobuf_pack(const ProtobufCMessage *message, struct arena *arena)
{
	uint8_t *room = arena_array(arena, uint8_t, protobuf_c_message_get_packed_size(message));

	return (str){ (char *)room, protobuf_c_message_pack(message, room) };
}
