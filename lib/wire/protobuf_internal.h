// SPDX-License-Identifier: Apache-2.0
/*
 * protobuf - protobuf-c with an arena as its allocator.
 *
 * Unbounded allocation is only for trusted or small messages, as protobuf-c allocates a struct for
 * each empty message: others get a budget. Messages of a recursive type are read by a decoder with
 * bounds (otlp_reader.c), because protobuf-c recurses without limit.
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

/* A bound on the memory of a message that is unpacked. */
struct protobuf_budget {
	struct arena *arena;
	size_t left;      /* bytes */
	bool is_exceeded; /* an allocation was refused, so nothing was unpacked */
};

static inline void *protobuf_budget_alloc(void *self, size_t size)
{
	struct protobuf_budget *budget = self;

	if (size > budget->left) {
		budget->is_exceeded = true;
		return NULL;
	}
	budget->left -= size;
	return arena_alloc(budget->arena, size, 1, _Alignof(uint64_t));
}

static inline ProtobufCAllocator protobuf_bounded_allocator(struct protobuf_budget *budget)
{
	return (ProtobufCAllocator){ protobuf_budget_alloc, protobuf_free, budget };
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
