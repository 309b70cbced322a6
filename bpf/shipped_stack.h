// SPDX-License-Identifier: GPL-2.0
/*
 * travel - user stacks that the programs know too little of: registers and bytes go along with the
 * record, and the agent walks them.
 *
 *     if (shipped_stack_begin(scratch))
 *             bytes = shipped_stack_add(scratch, bytes, has_task_pt_regs);
 *     ...send it, then while there is more of it:
 *     shipped_stack_send_more();
 *
 * Only so many a second, and only while the ring has room for samples beside them.
 */
#pragma once

#include "registers.h"
#include "sample_scratch.h"

READ_ONLY uint64_t ns_per_shipped_stack = 1000000000 / STACKS_SHIPPED_PER_SECOND_MIN;

/* What stacks leave of the ring to samples, and more of a long one to other stacks. */
enum { STACK_SHARE = 2, MORE_SHARE = 4 };

static __always_inline bool shipped_stack_has_room(uint64_t share)
{
	return bpf_ringbuf_query(&samples, BPF_RB_AVAIL_DATA) * share <=
	       bpf_ringbuf_query(&samples, BPF_RB_RING_SIZE);
}

/* Whether one more may. Tokens come with time. */
static __always_inline bool shipped_stack_begin(struct scratch *scratch)
{
	uint64_t left = scratch->ship_tokens_ns, now = scratch->record.time_ns;

	left = at_most(left + (now - scratch->ship_tokens_at_ns),
		       (uint64_t)STACKS_SHIPPED_BURST * ns_per_shipped_stack);
	scratch->ship_tokens_at_ns = now;
	scratch->ship_tokens_ns = left;
	if (left < ns_per_shipped_stack || !shipped_stack_has_room(STACK_SHARE))
		return false;
	scratch->ship_tokens_ns = left - ns_per_shipped_stack;
	return true;
}

/*
 * The registers and the top of the stack, up to the next page of it that cannot be read, behind the
 * frames. A big buffer that nobody has written to is no page yet: it is skipped. Bytes that there
 * are now.
 */
static __always_inline uint64_t shipped_stack_add(struct scratch *scratch, uint64_t tail,
						  bool has_helper)
{
	struct sample_record *out = &scratch->record;
	struct sample_registers *registers;
	uint32_t skipped = 0;
	uint64_t bytes = 0;

	tail = at_most(tail, sizeof(*out));
	scratch->stack_more = 0;
	registers = (void *)((char *)out + tail);
	/* The walk has changed its own. */
	if (registers_read(registers, has_helper) != REGISTERS_FOUND)
		return tail;

	uint64_t from = registers->general[UNWIND_STACK_POINTER] & ~7ULL;
	char *to = (char *)(registers + 1);

	/* Up to the end of the page first, then whole pages. */
	for (int i = 0; i < SAMPLE_STACK_PIECES; i++) {
		uint64_t piece = SAMPLE_STACK_PIECE - ((from + bytes) & (SAMPLE_STACK_PIECE - 1));

		bytes = at_most(bytes, SAMPLE_STACK_BYTES_MAX - SAMPLE_STACK_PIECE);
		piece = at_most(piece, SAMPLE_STACK_PIECE);
		if (bpf_probe_read_user(to + bytes, (uint32_t)piece,
					(const void *)(from + bytes))) {
			if (bytes)
				break;
			from += piece;
			skipped++;
			continue;
		}
		bytes += piece;
		if (i == SAMPLE_STACK_PIECES - 1)
			scratch->stack_more = from + bytes;
	}
	out->stack_bytes = (uint16_t)bytes;
	if (bytes)
		out->flags |= skipped << SAMPLE_SKIPPED_AT;
	return bytes ? tail + sizeof(*registers) + bytes : tail;
}

/*
 * As much again of the stack that was sent, in a record of its own. Whether there is more. Global,
 * so that the verifier looks at it once. What the record said before is gone.
 */
__attribute__((noinline)) int shipped_stack_send_more(void)
{
	struct scratch *scratch = scratch_get();
	uint32_t pieces = 0;

	if (!scratch || !scratch->stack_more || !shipped_stack_has_room(MORE_SHARE))
		return 0;

	struct sample_record *out = &scratch->record;
	struct sample_registers *registers = (void *)out->frames;
	char *to = (char *)(registers + 1);
	uint64_t from = scratch->stack_more;

	out->kernel_frames = out->user_frames = 0;
	out->user_end = USER_END_NONE;
	out->flags = SAMPLE_CONTINUES;
	__builtin_memset(registers, 0, sizeof(*registers));
	registers->general[UNWIND_STACK_POINTER] = from;
	for (; pieces < SAMPLE_STACK_PIECES; pieces++)
		if (bpf_probe_read_user(to + pieces * SAMPLE_STACK_PIECE, SAMPLE_STACK_PIECE,
					(const void *)(from + pieces * SAMPLE_STACK_PIECE)))
			break;
	if (!pieces)
		return 0;
	out->stack_bytes = (uint16_t)(pieces * SAMPLE_STACK_PIECE);
	scratch->stack_more = from + pieces * SAMPLE_STACK_PIECE;

	uint64_t bytes = offsetof(struct sample_record, frames) + sizeof(*registers) +
			 (uint64_t)pieces * SAMPLE_STACK_PIECE;

	return scratch_send(scratch, bytes) && pieces == SAMPLE_STACK_PIECES;
}
