// SPDX-License-Identifier: GPL-2.0
/*
 * sample - the record that crosses from kernel to user space on every tick.
 *
 * Included by the BPF programs, the agent and the tests: fixed-width types only, no pointers, and
 * a size pinned by static assertion, because both sides are compiled apart.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
	/* kernel.perf_event_max_stack is 127 by default: bpf_get_stack() gives no more, or less. */
	KERNEL_FRAMES_MAX = 127,
	USER_FRAMES_MAX = 127,
	COMM_SIZE = 16,
	SAMPLE_RING_BYTES_MIN = 256 * 1024, /* a power of two; the agent makes it bigger */
};

/* How the walk of the user stack ended. */
enum user_end {
	USER_END_NONE,           /* there is no user side: a kernel thread, a process at its end */
	USER_END_FRAME_POINTERS, /* frame pointers led no further: the root, or code without them */
	USER_END_TOO_DEEP,       /* USER_FRAMES_MAX reached */
	USER_END_READ_FAULT,     /* a process, but not even its registers could be had */
	USER_END_COUNT,
};

/*
 * What became of each tick, and what a kept one lacks; also the index into the counts map. Counts
 * only grow. The fates come first: their sum is the number of ticks.
 */
enum sampler_count {
	TICK_SENT,
	TICK_IDLE,      /* nobody ran */
	TICK_RING_FULL, /* lost: the agent did not read in time */
	TICK_FATE_COUNT,
	CUT_KERNEL_TOO_DEEP = TICK_FATE_COUNT,
	CUT_USER_TOO_DEEP,
	CUT_USER_READ_FAULT,
	SAMPLER_COUNT_COUNT,
};

enum { SAMPLE_KERNEL_THREAD = 1 << 0 };

struct sample_record {
	uint64_t time_ns;   /* CLOCK_MONOTONIC */
	uint64_t start_ns;  /* when the process began, CLOCK_BOOTTIME: a pid alone is no identity */
	uint64_t exec_id;   /* grows by one with each exec; inherited by fork */
	uint64_t cgroup_id; /* of the cgroup v2 hierarchy; 0: none */
	uint32_t tgid;
	uint32_t tid;
	uint32_t cpu;
	uint32_t flags; /* SAMPLE_... */
	uint16_t kernel_frames;
	uint16_t user_frames;
	uint16_t user_end; /* enum user_end */
	uint16_t reserved;
	char comm[COMM_SIZE];        /* the group leader's, at this tick */
	char thread_comm[COMM_SIZE]; /* the task's own */
	/* Kernel frames, then user frames, each leaf first. Only those that are there are sent. */
	uint64_t frames[KERNEL_FRAMES_MAX + USER_FRAMES_MAX];
};
_Static_assert(offsetof(struct sample_record, frames) == 88, "no hidden padding: read as bytes");
_Static_assert(sizeof(struct sample_record) <= 32768, "a per-CPU map value is at most 32 KB");
