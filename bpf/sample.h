// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * sample - the record that the BPF program sends to user space on every tick.
 *
 * Included by the BPF programs, the agent and the tests. Both sides are compiled separately, so it
 * has fixed-width types only, no pointers, and a size that a static assertion checks. Layout:
 *
 *     struct sample_record up to frames; kernel frames; user frames, each leaf first;
 *     if stack_bytes: struct sample_registers; stack_bytes of the user stack, from the stack
 *     pointer on, or from the first readable page above it on (unwind_stack_from())
 *
 * A shipped stack is such a copy of registers and stack. If the stack is longer than one record
 * holds, continuation records follow (SAMPLE_CONTINUES) with the same time and CPU; other records
 * may lie in between. A continuation record is no sample: it has no frames, and its stack pointer
 * is the address where its bytes begin.
 *
 * Each user frame except the first is stored as a return address, one past the call. This also
 * holds for the code that a signal interrupted and for the signal frame itself, which are stored as
 * their address + 1. So a reader looks up address - 1.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* bpf_get_stack() returns at most kernel.perf_event_max_stack frames, 127 by default. */
	KERNEL_FRAMES_MAX = 127,
	USER_FRAMES_MAX = 512,
	COMM_SIZE = 16,
	SAMPLE_RING_BYTES_MIN = 512 * 1024, /* a power of two; the agent may set a larger size */
};

/* Shipped stacks: how many bytes of each, and how many per second and CPU. Stacks beyond the rate
 * are not shipped but counted. */
enum {
	SAMPLE_STACK_PIECE = 4096, /* read completely or not at all: a page may be absent */
	SAMPLE_STACK_PIECES = 5,   /* of a record; the first may be shorter */
	SAMPLE_STACK_BYTES_MAX = SAMPLE_STACK_PIECE * SAMPLE_STACK_PIECES, /* of a record */
	SAMPLE_STACK_RECORDS = 3,
	SAMPLE_STACK_WHOLE_MAX = SAMPLE_STACK_BYTES_MAX * SAMPLE_STACK_RECORDS,
	/* The rate is the sampling frequency + 1, within these bounds. */
	STACKS_SHIPPED_PER_SECOND_MIN = 20,
	STACKS_SHIPPED_PER_SECOND_MAX = 100,
	STACKS_SHIPPED_BURST = 8,
};

/* Why the walk of the user stack ended. */
enum user_end {
	USER_END_NONE,        /* no user stack: a kernel thread, or a process that is exiting */
	USER_END_COMPLETE,    /* reached the root */
	USER_END_TOO_DEEP,    /* USER_FRAMES_MAX reached, or the limit of tail calls */
	USER_END_READ_FAULT,  /* memory that is not mapped, or not resident at the tick */
	USER_END_NO_ROW,      /* the table has no row for the address */
	USER_END_NO_MAPPING,  /* the address is in no known mapping */
	USER_END_NO_TABLE,    /* the table is not loaded, and frame pointers led to no code */
	USER_END_BAD_FRAME,   /* the frame did not grow, or returns to an address without code */
	USER_END_UNSUPPORTED, /* an unwind rule that the walk does not support */
	USER_END_32BIT,       /* a 32-bit program */
	USER_END_EXEC, /* during exec: the old stack is gone, the new program has not begun */
	USER_END_COUNT,
};

/* Names for logs. With the prefix "user_" they are also the reasons of truncated stacks. */
static const char *const user_end_names[USER_END_COUNT] = {
	[USER_END_NONE] = "none",
	[USER_END_COMPLETE] = "complete",
	[USER_END_TOO_DEEP] = "too_deep",
	[USER_END_READ_FAULT] = "read_fault",
	[USER_END_NO_ROW] = "no_row",
	[USER_END_NO_MAPPING] = "no_mapping",
	[USER_END_NO_TABLE] = "no_table",
	[USER_END_BAD_FRAME] = "bad_frame",
	[USER_END_UNSUPPORTED] = "unsupported",
	[USER_END_32BIT] = "32bit",
	[USER_END_EXEC] = "exec",
};

/*
 * What became of each tick, and why its stack is truncated; also the index into the counts map.
 * Counters only grow. The fates come first: their sum is the number of ticks. A shipped stack is
 * not counted as truncated here, because the agent walks it again.
 */
enum sampler_count {
	TICK_SENT,
	TICK_IDLE,      /* the CPU was idle */
	TICK_RING_FULL, /* lost: the agent did not read in time */
	TICK_FATE_COUNT,
	TRUNCATED_KERNEL_TOO_DEEP = TICK_FATE_COUNT,
	TRUNCATED_USER_TOO_DEEP, /* from here on in the order of enum user_end */
	TRUNCATED_USER_READ_FAULT,
	TRUNCATED_USER_NO_ROW,
	TRUNCATED_USER_NO_MAPPING,
	TRUNCATED_USER_NO_TABLE,
	TRUNCATED_USER_BAD_FRAME,
	TRUNCATED_USER_UNSUPPORTED,
	TRUNCATED_USER_32BIT,
	TRUNCATED_USER_EXEC,
	STACK_SHIPPED,
	STACK_NOT_SHIPPED, /* because of the rate, or because the ring was half full */
	SAMPLER_COUNT_COUNT,
};
_Static_assert(TRUNCATED_USER_EXEC - TRUNCATED_USER_TOO_DEEP ==
		       USER_END_COUNT - 1 - USER_END_TOO_DEEP,
	       "each end that is not the root has its counter");

enum {
	SAMPLE_KERNEL_THREAD = 1 << 0,
	SAMPLE_FRAME_POINTERS = 1 << 1,   /* at least one step of the walk was by frame pointers */
	SAMPLE_NEEDS_AGENT_WALK = 1 << 2, /* BPF knows too little: the stack should be shipped */
	SAMPLE_GUESSED = 1 << 3,   /* a step was a guess: the next word like a return address */
	SAMPLE_CONTINUES = 1 << 4, /* no sample: more of the stack of an earlier record */
	SAMPLE_KERNEL_TOO_DEEP = 1 << 5, /* the kernel frames at the root are missing */
	SAMPLE_SKIPPED_AT = 8, /* from this bit on: number of absent pages that were skipped */
};

struct sample_record {
	uint64_t time_ns;   /* CLOCK_MONOTONIC */
	uint64_t start_ns;  /* start of the process, CLOCK_BOOTTIME: identifies it with the pid */
	uint64_t exec_id;   /* grows by one with each exec; inherited by fork */
	uint64_t cgroup_id; /* of the cgroup v2 hierarchy; 0: none */
	/*
	 * Start of the parent, if the task runs in the parent's memory (a vfork child) and the
	 * parent's mappings are not known; else 0.
	 */
	uint64_t owner_start_ns;
	uint32_t tgid;
	uint32_t tid;
	uint32_t cpu;
	uint32_t flags; /* SAMPLE_... */
	uint16_t kernel_frames;
	uint16_t user_frames;
	uint16_t user_end;           /* enum user_end */
	uint16_t stack_bytes;        /* a multiple of 8 */
	char comm[COMM_SIZE];        /* the group leader's, at this tick */
	char thread_comm[COMM_SIZE]; /* the task's own */
	/* Kernel frames, then user frames, each leaf first. Only used elements are sent. */
	uint64_t frames[KERNEL_FRAMES_MAX + USER_FRAMES_MAX];
};
_Static_assert(offsetof(struct sample_record, frames) == 96, "no hidden padding: read as bytes");

/* A power of two. */
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
enum { GENERAL_REGISTERS = 32 };
#else
enum { GENERAL_REGISTERS = 16 };
#endif

/* The user-mode registers of the thread at the tick. */
struct sample_registers {
	uint64_t pc;
	uint64_t general[GENERAL_REGISTERS]; /* by DWARF number */
};
_Static_assert(sizeof(struct sample_registers) == 8 + 8 * GENERAL_REGISTERS, "read as bytes");
_Static_assert(SAMPLE_STACK_WHOLE_MAX <= UINT16_MAX, "fits in stack_bytes");

enum {
	SAMPLE_TAIL_MAX = sizeof(struct sample_registers) + SAMPLE_STACK_BYTES_MAX,
	SAMPLE_BYTES_MAX = sizeof(struct sample_record) + SAMPLE_TAIL_MAX,
};

/* Length of head and frames: the offset of registers and stack. */
static inline size_t sample_tail_at(const struct sample_record *record)
{
	return offsetof(struct sample_record, frames) +
	       sizeof(uint64_t) * ((size_t)record->kernel_frames + record->user_frames);
}

/* Length of the record, computed from its counts. */
static inline size_t sample_bytes(const struct sample_record *record)
{
	size_t tail =
		record->stack_bytes ? sizeof(struct sample_registers) + record->stack_bytes : 0;

	return sample_tail_at(record) + tail;
}

/* The registers of a complete record with stack_bytes > 0. The bytes of the stack follow them. */
static inline const struct sample_registers *sample_registers(const struct sample_record *record)
{
	return (const void *)((const char *)record + sample_tail_at(record));
}
