// SPDX-License-Identifier: Apache-2.0
/*
 * stack_walk - a record of the ring with untrusted registers and stack: for any values the walk
 * ends within its bounds, with a reason. The first bytes of the input are an unverified table.
 */
#include "agent/capture/sample_parse_internal.h"
#include "agent/unwind/stack_walk.h"
#include "unwind/unwind_format.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_BYTES = 256 };

static uint8_t pages[4][UNWIND_PAGE_BYTES];

static const uint8_t *page_of(void *self, uint64_t number)
{
	(void)self;
	return number < 4 ? pages[number] : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Valid rules on another page, to which the fuzzer's table may point. */
static void make_rules(void)
{
	static const struct unwind_rule rules[] = {
		{ .cfa = UNWIND_CFA_REGISTER,
		  .cfa_register = 7,
		  .cfa_offset = 16,
		  .return_address = 1,
		  .return_address_offset = -8 },
		{ .cfa = UNWIND_CFA_REGISTER,
		  .cfa_register = 6,
		  .cfa_offset = 16,
		  .return_address = 1,
		  .return_address_offset = -8,
		  .frame_pointer = 1,
		  .frame_pointer_offset = -16 },
		{ .cfa = UNWIND_CFA_DEREF,
		  .cfa_register = 7,
		  .cfa_offset = 8,
		  .cfa_second = -8,
		  .return_address = 1,
		  .return_address_offset = -8 },
		{ .cfa = UNWIND_CFA_PLT,
		  .cfa_offset = 11,
		  .return_address = 1,
		  .return_address_offset = -8 },
		{ .cfa = UNWIND_CFA_SIGNAL },
		{ .cfa = UNWIND_CFA_FRAME_POINTER },
		{ .cfa = UNWIND_CFA_UNSUPPORTED },
		{ .cfa = UNWIND_CFA_REGISTER,
		  .cfa_register = 7,
		  .cfa_offset = 8,
		  .return_address = 2 },
	};

	memcpy(pages[2], rules, sizeof(rules));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct unwind_mapping mappings[] = {
		{ .start = 0x1000, .end = 0x100000, .bias = 0x1000, .table = 1 },
		{ .start = 0x100000, .end = 0x200000 },
		{ .start = 0x200000, .end = 0x300000, .flags = UNWIND_MAPPING_ANONYMOUS },
		{ .start = 0x300000, .end = UINT64_MAX, .bias = 0x300000, .table = 9 },
	};
	struct stack_walk walk = { 0 };

	if (size < TABLE_BYTES)
		return 0;
	memcpy(pages[1], data, TABLE_BYTES);
	make_rules();

	/* A buffer of exactly this size, so that the sanitizer detects a read past its end. */
	size_t len = size - TABLE_BYTES;
	void *bytes = malloc(len ? len : 1);

	assert(bytes);
	memcpy(bytes, data + TABLE_BYTES, len);

	const struct sample_record *record = sample_parse(bytes, len);

	memcpy(pages[3], mappings, sizeof(mappings));
	if (record && record->stack_bytes) {
		const struct sample_record *again = stack_walk_again(
			&walk, record, (struct stack_walk_list){ 3 * UNWIND_PAGE_BYTES, 4 },
			(struct unwind_space){ .page = page_of });

		assert(again == record ||
		       (again->user_end > USER_END_NONE && again->user_end < USER_END_COUNT));
		assert(again == record ||
		       (again->user_frames > 0 && again->user_frames <= USER_FRAMES_MAX));
		assert(again->kernel_frames == record->kernel_frames);
		assert(walk.walked + walk.kept == 1);
	}
	free(bytes);
	return 0;
}
