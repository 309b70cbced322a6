// SPDX-License-Identifier: GPL-2.0
/*
 * sample_scratch - where a record is put together, and the ring that it goes into.
 *
 * One per CPU: the ring buffer can only reserve a size the verifier knows. It belongs to the
 * programs of sampler.bpf.c alone: a tick can interrupt any other program on the same CPU, but no
 * other tick.
 */
#pragma once

#include "kernel.h"
#include "sample.h"
#include "stack_window.h"
#include "unwind_maps.h"
#include "unwind_walk.h"

#include <bpf/bpf_helpers.h>
#include <linux/bpf.h>

/* A record, room for what may follow it, and the walk that makes it. */
struct scratch {
	struct unwind walk;
	struct stack_window window;
	struct {
		uint32_t tgid, generation; /* generation.lists when it was found */
		struct unwind_process process;
	} last; /* the process that was found last */
	uint64_t ship_tokens_at_ns,
		ship_tokens_ns; /* each stack that travels takes ns_per_shipped_stack */
	uint64_t stack_more;    /* where the stack goes on that has been sent; 0: nowhere */
	struct sample_record record;
	uint8_t tail[SAMPLE_TAIL_MAX];
};
_Static_assert(sizeof(struct scratch) <= 32768, "a per-CPU map value is at most 32 KB");
_Static_assert(offsetof(struct scratch, tail) ==
		       offsetof(struct scratch, record) + sizeof(struct sample_record),
	       "one run of bytes");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, uint32_t);
	__type(value, struct scratch);
	__uint(max_entries, 1);
} scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, SAMPLE_RING_BYTES_MIN);
} samples SEC(".maps");

static __always_inline struct scratch *scratch_get(void)
{
	uint32_t first = 0;

	return bpf_map_lookup_elem(&scratches, &first); /* NULL cannot be: it has one element */
}

/*
 * What the compiler knows of a value it does not check again, but the verifier of older kernels
 * forgets: it is told once more, where the compiler cannot see that it is told twice.
 */
static __always_inline uint64_t at_most(uint64_t value, uint64_t max)
{
	barrier_var(value);
	if (value > max)
		return max;
	barrier_var(value);
	return value;
}

static __always_inline bool scratch_send(struct scratch *scratch, uint64_t bytes)
{
	return bpf_ringbuf_output(&samples, &scratch->record, at_most(bytes, SAMPLE_BYTES_MAX),
				  BPF_RB_NO_WAKEUP) == 0;
}
