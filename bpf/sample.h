// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * sample - the record that crosses from kernel to user space on every tick.
 *
 * Included by the BPF programs, the agent and the tests: fixed-width types only, no pointers, and
 * a size pinned by static assertion, because both sides are compiled apart.
 *
 *     struct sample_record up to frames; kernel frames; user frames, each leaf first;
 *     if stack_bytes: struct sample_registers; stack_bytes of the user stack, from its pointer or
 *     the first page above it that is there on (unwind_stack_from())
 *
 * A stack of which there is more is gone on with in records that follow, of the same time and CPU,
 * though maybe not at once: SAMPLE_CONTINUES. They are no samples, have no frames, and their stack
 * pointer is where they go on.
 *
 * All user frames but the first are one past what the thread will go on with, as return addresses
 * are: also where a signal interrupted it, and the signal frame itself. One less is what is looked
 * up.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	/* kernel.perf_event_max_stack is 127 by default: bpf_get_stack() gives no more, or less. */
	KERNEL_FRAMES_MAX = 127,
	USER_FRAMES_MAX = 512,
	COMM_SIZE = 16,
	SAMPLE_RING_BYTES_MIN = 512 * 1024, /* a power of two; the agent makes it bigger */
};

/* Stacks that travel: as much of each, and so many of each CPU; the rest are counted. */
enum {
	SAMPLE_STACK_PIECE = 4096, /* is read whole or not at all: pages may be absent */
	SAMPLE_STACK_PIECES = 5,   /* the first of them maybe less than whole */
	SAMPLE_STACK_BYTES_MAX = SAMPLE_STACK_PIECE * SAMPLE_STACK_PIECES, /* of a record */
	SAMPLE_STACK_RECORDS = 3,
	SAMPLE_STACK_WHOLE_MAX = SAMPLE_STACK_BYTES_MAX * SAMPLE_STACK_RECORDS,
	STACKS_SHIPPED_PER_SECOND_MIN = 20, /* as many as ticks, and one more, within these */
	STACKS_SHIPPED_PER_SECOND_MAX = 100,
	STACKS_SHIPPED_BURST = 8,
};

/* How the walk of the user stack ended. */
enum user_end {
	USER_END_NONE,        /* there is no user side: a kernel thread, a process at its end */
	USER_END_COMPLETE,    /* the root */
	USER_END_TOO_DEEP,    /* USER_FRAMES_MAX reached, or what tail calls can do */
	USER_END_READ_FAULT,  /* memory that is not there, or not now */
	USER_END_NO_ROW,      /* the table has no row there */
	USER_END_NO_MAPPING,  /* in no mapping that is known */
	USER_END_NO_TABLE,    /* the table is not loaded, and frame pointers led nowhere */
	USER_END_BAD_FRAME,   /* the frame did not grow, or returns to where no code is */
	USER_END_UNSUPPORTED, /* a rule that nobody here reads */
	USER_END_32BIT,
	USER_END_EXEC, /* in an exec: the stack is gone, and the new program has not begun */
	USER_END_COUNT,
};

/* For people; of those that are cut also the reasons, after "user_". */
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
 * What became of each tick, and what a kept one lacks; also the index into the counts map. Counts
 * only grow. The fates come first: their sum is the number of ticks. A stack that travels is not
 * counted as cut here: its walk is not over.
 */
enum sampler_count {
	TICK_SENT,
	TICK_IDLE,      /* nobody ran */
	TICK_RING_FULL, /* lost: the agent did not read in time */
	TICK_FATE_COUNT,
	CUT_KERNEL_TOO_DEEP = TICK_FATE_COUNT,
	CUT_USER_TOO_DEEP, /* from here on as in enum user_end */
	CUT_USER_READ_FAULT,
	CUT_USER_NO_ROW,
	CUT_USER_NO_MAPPING,
	CUT_USER_NO_TABLE,
	CUT_USER_BAD_FRAME,
	CUT_USER_UNSUPPORTED,
	CUT_USER_32BIT,
	CUT_USER_EXEC,
	STACK_SHIPPED,
	STACK_NOT_SHIPPED, /* would have travelled, beyond the rate or with the ring half full */
	SAMPLER_COUNT_COUNT,
};
_Static_assert(CUT_USER_EXEC - CUT_USER_TOO_DEEP == USER_END_COUNT - 1 - USER_END_TOO_DEEP,
	       "each end that is not the root has its count");

enum {
	SAMPLE_KERNEL_THREAD = 1 << 0,
	SAMPLE_FRAME_POINTERS = 1 << 1,   /* at least one step of the walk was by frame pointers */
	SAMPLE_NEEDS_AGENT_WALK = 1 << 2, /* BPF knows too little: registers and stack go along */
	SAMPLE_GUESSED = 1 << 3,   /* a step was a guess: the next word that looks returned to */
	SAMPLE_CONTINUES = 1 << 4, /* no sample: more of the stack of one that came before */
	SAMPLE_SKIPPED_AT = 8,     /* from this bit on: pages of the stack that were not there */
};

struct sample_record {
	uint64_t time_ns;   /* CLOCK_MONOTONIC */
	uint64_t start_ns;  /* when the process began, CLOCK_BOOTTIME: a pid alone is no identity */
	uint64_t exec_id;   /* grows by one with each exec; inherited by fork */
	uint64_t cgroup_id; /* of the cgroup v2 hierarchy; 0: none */
	/*
	 * When the parent began in whose memory it runs, as vfork children do, and whose mappings
	 * are not known; else 0.
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
	/* Kernel frames, then user frames, each leaf first. Only those that are there are sent. */
	uint64_t frames[KERNEL_FRAMES_MAX + USER_FRAMES_MAX];
};
_Static_assert(offsetof(struct sample_record, frames) == 96, "no hidden padding: read as bytes");

/* A power of two. */
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
enum { GENERAL_REGISTERS = 32 };
#else
enum { GENERAL_REGISTERS = 16 };
#endif

/* Where the thread stood in user mode. */
struct sample_registers {
	uint64_t pc;
	uint64_t general[GENERAL_REGISTERS]; /* by DWARF number */
};
_Static_assert(sizeof(struct sample_registers) == 8 + 8 * GENERAL_REGISTERS, "read as bytes");
_Static_assert(SAMPLE_STACK_WHOLE_MAX <= UINT16_MAX, "stack_bytes can say it");

enum {
	SAMPLE_TAIL_MAX = sizeof(struct sample_registers) + SAMPLE_STACK_BYTES_MAX,
	SAMPLE_BYTES_MAX = sizeof(struct sample_record) + SAMPLE_TAIL_MAX,
};

/* Bytes of head and frames. */
static inline size_t sample_tail_at(const struct sample_record *record)
{
	return offsetof(struct sample_record, frames) +
	       sizeof(uint64_t) * ((size_t)record->kernel_frames + record->user_frames);
}

/* Bytes that a record has by what it says. */
static inline size_t sample_bytes(const struct sample_record *record)
{
	size_t tail =
		record->stack_bytes ? sizeof(struct sample_registers) + record->stack_bytes : 0;

	return sample_tail_at(record) + tail;
}

/* Of a record with stack_bytes, whole in memory. The stack's bytes come right after. */
static inline const struct sample_registers *sample_registers(const struct sample_record *record)
{
	return (const void *)((const char *)record + sample_tail_at(record));
}
