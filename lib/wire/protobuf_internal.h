// SPDX-License-Identifier: Apache-2.0
/*
 * protobuf - protobuf-c with an arena as its allocator.
 *
 * Only for trusted or small messages: protobuf-c recurses without limit and allocates a struct for
 * each empty message. Untrusted messages are read by a decoder with bounds (otlp_reader.c).
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

/* Text fields are declared as bytes; convert them from and to str, without a copy. */
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
