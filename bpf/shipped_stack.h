// SPDX-License-Identifier: GPL-2.0
/*
 * shipped_stack - copies of user stacks that BPF cannot walk completely, sent for the agent to
 * walk.
 *
 *     if (shipped_stack_begin(scratch))
 *             bytes = shipped_stack_add(scratch, bytes, has_task_pt_regs);
 *     ...send the record, then, while the stack continues:
 *     shipped_stack_send_more();
 *
 * The copy holds the registers and the top of the stack and is part of the record. The rate per CPU
 * is limited by a token bucket (ns_per_shipped_stack), and stacks are shipped only while the ring
 * has room for samples beside them.
 */
#pragma once

#include "registers.h"
#include "sample_scratch.h"

READ_ONLY uint64_t ns_per_shipped_stack = 1000000000 / STACKS_SHIPPED_PER_SECOND_MIN;

/* A stack is shipped only while at most 1/STACK_SHARE of the ring is in use, the continuation of a
 * long one only while at most 1/MORE_SHARE is. */
enum { STACK_SHARE = 2, MORE_SHARE = 4 };

static __always_inline bool shipped_stack_has_room(uint64_t share)
{
	return bpf_ringbuf_query(&samples, BPF_RB_AVAIL_DATA) * share <=
	       bpf_ringbuf_query(&samples, BPF_RB_RING_SIZE);
}

/* True if one more stack may be shipped now; takes its tokens from the bucket. */
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
 * Appends the registers and the top of the stack to the record, up to the next unreadable page.
 * Unreadable pages at the beginning are skipped: a large buffer that was never written to has no
 * pages yet. `tail` is the length of the record so far; returns the new length.
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
	/* Read again, because the walk has changed its copy. */
	if (registers_read(registers, has_helper) != REGISTERS_FOUND)
		return tail;

	uint64_t from = registers->general[UNWIND_STACK_POINTER] & ~7ULL;
	char *to = (char *)(registers + 1);

	/* First up to the end of the page, then whole pages. */
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
 * Sends the next pages of the shipped stack in a continuation record. Returns 1 if the stack may
 * continue. Overwrites the record in the scratch. Global, so that the verifier checks it once.
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
