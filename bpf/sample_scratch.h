// SPDX-License-Identifier: GPL-2.0
/*
 * sample_scratch - per-CPU memory in which a record is built, and the ring buffer for records.
 *
 * The ring buffer can only reserve a constant size, so a record is built here and copied into the
 * ring. Only the programs of sampler.bpf.c use it: a tick can interrupt any other program on the
 * same CPU, but no other tick.
 */
#pragma once

#include "kernel.h"
#include "sample.h"
#include "stack_window.h"
#include "unwind_maps.h"
#include "unwind_walk.h"

#include <bpf/bpf_helpers.h>
#include <linux/bpf.h>

/* The walk, the record that it fills, and room for a shipped stack behind the record. */
struct scratch {
	struct unwind walk;
	struct stack_window window;
	struct {
		uint32_t tgid, generation; /* generation.lists when it was found */
		struct unwind_process process;
	} last; /* the last process that was found */
	/* A token bucket: each shipped stack costs ns_per_shipped_stack. */
	uint64_t ship_tokens_at_ns, ship_tokens_ns;
	uint64_t stack_more; /* address where the shipped stack continues; 0: it is complete */
	struct sample_record record;
	uint8_t tail[SAMPLE_TAIL_MAX];
};
_Static_assert(sizeof(struct scratch) <= 32768, "a per-CPU map value is at most 32 KB");
_Static_assert(offsetof(struct scratch, tail) ==
		       offsetof(struct scratch, record) + sizeof(struct sample_record),
	       "a shipped stack may cross from the record into the tail");

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

	return bpf_map_lookup_elem(&scratches, &first); /* never NULL: the map has one element */
}

/*
 * Bounds a value. The compiler removes a check whose result it knows, but the verifier of an older
 * kernel loses that bound and needs the check. barrier_var() hides the value from the compiler.
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
