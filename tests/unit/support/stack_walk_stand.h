// SPDX-License-Identifier: Apache-2.0
/*
 * stack_walk_stand - records as they come out of the ring, and pages of tables to walk them by.
 *
 *     set_up();
 *     record = shipped(found, 1, USER_END_NO_TABLE, stack, sizeof(stack));
 *     again = walk_with(record, mappings, count);
 */
#pragma once

#include "agent/capture/sample_parse_internal.h"
#include "agent/unwind/stack_walk.h"
#include "support/test.h"
#include "unwind/unwind_format.h"

#include <string.h>

enum { RBP = 6, RSP = 7, PAGES_MAX = 4096, STACK = 0x7000 };

static const uint8_t *pages[PAGES_MAX];
static uint32_t page_count = 1;
static struct stack_walk walk;

/* A record as it comes out of the ring, with room for all that it may hold. */
static union {
	struct sample_record record;
	uint8_t bytes[SAMPLE_BYTES_MAX];
} sent;

static inline const uint8_t *page_of(void *self, uint64_t number)
{
	(void)self;
	return number < page_count ? pages[number] : NULL;
}

static const struct unwind_space space = { .page = page_of };

static inline void set_up(void)
{
	walk = (struct stack_walk){ 0 };
	memset(&sent, 0, sizeof(sent));
}

/* The number of the first of these pages. */
static inline uint32_t add_pages(const uint8_t *first, size_t count)
{
	uint32_t number = page_count;

	assert_true(page_count + count <= PAGES_MAX);
	for (size_t i = 0; i < count; i++)
		pages[page_count++] = first + i * UNWIND_PAGE_BYTES;
	return number;
}

/* A record whose walk in BPF found these frames, leaf first, and its stack. */
static inline const struct sample_record *shipped(const uint64_t *found, uint16_t found_count,
						  enum user_end end, const uint64_t *stack,
						  uint16_t stack_bytes)
{
	struct sample_registers registers = { .pc = found[0] };

	registers.general[RSP] = STACK;
	registers.general[RBP] = 8; /* no frame pointer: leads nowhere, and is not the root's 0 */
	sent.record.kernel_frames = 1;
	sent.record.user_frames = found_count;
	sent.record.user_end = (uint16_t)end;
	sent.record.stack_bytes = stack_bytes;
	sent.record.flags = SAMPLE_NEEDS_AGENT_WALK | SAMPLE_FRAME_POINTERS;
	sent.record.frames[0] = 0xffffffff81000000;
	memcpy(sent.record.frames + 1, found, found_count * sizeof(*found));
	memcpy(sent.bytes + sample_tail_at(&sent.record), &registers, sizeof(registers));
	memcpy(sent.bytes + sample_tail_at(&sent.record) + sizeof(registers), stack, stack_bytes);
	assert_ptr_equal(sample_parse(&sent, sample_bytes(&sent.record)), &sent.record);
	return &sent.record;
}

static inline void set_register(uint32_t number, uint64_t to)
{
	struct sample_registers registers;
	uint8_t *at = sent.bytes + sample_tail_at(&sent.record);

	memcpy(&registers, at, sizeof(registers));
	registers.general[number] = to;
	memcpy(at, &registers, sizeof(registers));
}

static inline void set_stack_pointer(uint64_t to)
{
	set_register(RSP, to);
}

/* The list has a page of its own for as long as the walk takes: a search may look at all of it. */
static inline const struct sample_record *
walk_with(const struct sample_record *record, const struct unwind_mapping *mappings, size_t count)
{
	static union {
		struct unwind_mapping list[UNWIND_PAGE_BYTES / sizeof(struct unwind_mapping)];
		uint8_t bytes[UNWIND_PAGE_BYTES];
	} listed;
	uint32_t page = add_pages(listed.bytes, 1);

	assert_in_range(count, 0, ARRAY_LEN(listed.list));
	memcpy(listed.list, mappings, count * sizeof(*mappings));

	const struct sample_record *again = stack_walk_again(
		&walk, record,
		(struct stack_walk_list){ (uint64_t)page * UNWIND_PAGE_BYTES, (uint32_t)count },
		space);

	page_count--;
	return again;
}
