// SPDX-License-Identifier: Apache-2.0
/*
 * unwind - whatever stands on a stack, and even in the pages of tables and lists, the walk reads
 * nothing but the stack and those pages, and ends.
 *
 * Of the input: the registers, the process, four pages that are there under many numbers, the
 * stack, which lies at the stack pointer where a process has its own, else at STACK_AT. Those of
 * the corpus that are called recorded-* are real: tests/recorded/record_stacks.py.
 */
#include "bpf/unwind.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PAGES = 4, STACK_AT = 0x10000, HIGH = 40 /* bits; stacks are above */ };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	uint8_t *pages[PAGES];
	const uint8_t *stack;
	uint64_t stack_at;
	size_t stack_len;
};

static bool unwind_read_user(struct unwind *walk, void *to, uint32_t bytes, uint64_t from)
{
	const struct input *input = walk->self;

	uint64_t at = from - input->stack_at;

	if (at > input->stack_len || input->stack_len - at < bytes)
		return false;
	memcpy(to, input->stack + at, bytes);
	return true;
}

static const uint8_t *unwind_page(struct unwind *walk, uint64_t number)
{
	const struct input *input = walk->self;

	return number % (PAGES + 1) < PAGES ? input->pages[number % (PAGES + 1)] : NULL;
}

/* As much as there is; the rest is 0. */
static void take(void *to, size_t len, const uint8_t **data, size_t *size)
{
	size_t have = *size < len ? *size : len;

	memset(to, 0, len);
	memcpy(to, *data, have);
	*data += have;
	*size -= have;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwind *walk = calloc(1, sizeof(*walk));
	struct unwind_process process;
	struct input input = { 0 };
	uint32_t frames = 0;

	if (!walk)
		abort();
	walk->self = &input;
	take(&walk->now, sizeof(walk->now), &data, &size);
	take(&process, sizeof(process), &data, &size);
	for (size_t i = 0; i < PAGES; i++) {
		/* Of its own, so that a sanitizer sees a step past it. */
		input.pages[i] = aligned_alloc(UNWIND_PAGE_BYTES, UNWIND_PAGE_BYTES);
		if (!input.pages[i])
			abort();
		take(input.pages[i], UNWIND_PAGE_BYTES, &data, &size);
	}
	input.stack = data;
	input.stack_at = walk->now.general[UNWIND_STACK_POINTER];
	if (input.stack_at >> HIGH == 0)
		input.stack_at = STACK_AT;
	input.stack_len = size;
	unwind_begin(walk, process.flags & 1 ? NULL : &process);
	for (; walk->end == USER_END_NONE && frames < USER_FRAMES_MAX; frames++)
		unwind_step(walk);
	assert(walk->end < USER_END_COUNT);
	for (size_t i = 0; i < PAGES; i++)
		free(input.pages[i]);
	free(walk);
	return 0;
}
