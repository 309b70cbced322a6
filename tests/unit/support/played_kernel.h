// SPDX-License-Identifier: Apache-2.0
/*
 * played_kernel - simulates the kernel for the BPF programs, in the test that includes this: a
 * task, its registers and stack, maps and a ring.
 *
 *     each_program(state);     the program that loops, or the one that calls itself on: BOTH(claim)
 *     tick(100, 100, 16);      of a process and a thread, with this number of bytes of kernel stack
 *     assert_int_equal(sent->user_frames, 3);
 *
 * It includes the programs themselves, compiled for the host.
 */
#pragma once

#include "bpf/sampler.bpf.c"
#include "support/test.h"

#include <setjmp.h>
#include <string.h>

enum {
	STACK_AT = 0x7ffc0000,
	STACK_WORDS = 8192,
	STACK_BYTES = 8 * STACK_WORDS,
	CONTINUED_MAX = 4,
	CODE_AT = 0x400000,
	RING_BYTES = 1 << 20,
	SEGMENT = 3,
	PAGE = SEGMENT * UNWIND_SEGMENT_PAGES + 5,
};

static struct task_struct orphan = { .group_leader = &orphan };
static struct task_struct leader = { .start_boottime = 77,
				     .self_exec_id = 3,
				     .comm = "nginx",
				     .group_leader = &leader,
				     .real_parent = &orphan };
static struct mm_struct {
	int unused;
} memory;
static struct task_struct task = { .group_leader = &leader, .comm = "worker", .mm = &memory };
static struct unwind_process known = {
	.start_ns = 77, .exec_id = 3, .place = PAGE * UNWIND_PAGE_BYTES, .count = 1
};
/* The one page there is: its list of mappings. */
static union {
	struct unwind_mapping one;
	uint8_t bytes[UNWIND_PAGE_BYTES];
} mappings = { .one = { .start = CODE_AT, .end = CODE_AT + 0x10000 } };
static int segment;
static uint32_t known_tgid;
static struct scratch made;
static struct rule_cache cached_rules;
static uint8_t sent_bytes_of[SAMPLE_BYTES_MAX];
static struct sample_record *sent = (void *)sent_bytes_of;
static uint64_t pid_tgid, now_ns, sent_bytes, counted[SAMPLER_COUNT_COUNT], ring_used;
static uint8_t continued_bytes_of[CONTINUED_MAX][SAMPLE_BYTES_MAX];
static uint32_t continued; /* records, of the sample that was sent last */
static long kernel_bytes;
static bool is_in_user_mode, ring_full, is_known_process, by_calls;
static uint32_t tail_calls;
static jmp_buf done;

/* The thread: its registers, at the top of its kernel stack, and its user stack. */
static struct {
	uint8_t rest[KERNEL_STACK_BYTES - sizeof(bpf_user_pt_regs_t)];
	bpf_user_pt_regs_t user;
} kernel_stack;
static uint64_t stack[STACK_WORDS], stack_from, stack_to;
static uint32_t reads, lookups; /* of the stack; of processes */

uint64_t bpf_get_current_pid_tgid(void)
{
	return pid_tgid;
}
uint64_t bpf_get_current_task(void)
{
	return (uint64_t)&task;
}
struct task_struct *bpf_get_current_task_btf(void)
{
	return &task;
}
long bpf_task_pt_regs(struct task_struct *of)
{
	assert_ptr_equal(of, &task);
	return (long)&kernel_stack.user;
}
uint64_t bpf_get_current_cgroup_id(void)
{
	return 9;
}
uint64_t bpf_ktime_get_ns(void)
{
	return now_ns;
}
uint32_t bpf_get_smp_processor_id(void)
{
	return 1;
}
long bpf_get_current_comm(void *to, uint32_t room)
{
	memcpy(to, task.comm, room);
	return 0;
}
long bpf_probe_read_kernel(void *to, uint32_t room, const void *from)
{
	memcpy(to, from, room);
	return 0;
}
long bpf_probe_read_user(void *to, uint32_t room, const void *from)
{
	uint64_t at = (uint64_t)from;

	reads++;
	if (at < stack_from || at > stack_to || stack_to - at < room)
		return -14;
	memcpy(to, (char *)stack + (at - STACK_AT), room);
	return 0;
}
long bpf_get_stack(void *ctx, void *to, uint32_t room, uint64_t flags)
{
	(void)ctx;
	assert_int_equal(flags, 0);
	assert_true(kernel_bytes <= (long)room);
	if (kernel_bytes > 0)
		memset(to, 'k', (size_t)kernel_bytes);
	return kernel_bytes;
}
void *bpf_map_lookup_elem(void *map, const void *key)
{
	uint32_t index = *(const uint32_t *)key;

	if (map == &counts) {
		assert_true(index < SAMPLER_COUNT_COUNT);
		return &counted[index];
	}
	lookups += map == &unwind_processes;
	if (map == &unwind_processes)
		return is_known_process && index == known_tgid ? &known : NULL;
	if (map == &unwind_segments)
		return index == SEGMENT ? &segment : NULL;
	if (map == &segment)
		return index == PAGE % UNWIND_SEGMENT_PAGES ? &mappings : NULL;
	if (map == &rule_cache)
		return &cached_rules;
	assert_true(map == &scratches);
	return &made;
}
long bpf_loop(uint32_t rounds, void *callback, void *data, uint64_t flags)
{
	long (*call)(uint32_t, void *) = (long (*)(uint32_t, void *))callback;

	assert_int_equal(flags, 0);
	assert_int_equal(rounds, WALK_ROUNDS);
	for (uint32_t i = 0; i < rounds; i++)
		if (call(i, data))
			break;
	return 0;
}
/* It returns only if the limit of tail calls is reached. */
long bpf_tail_call(void *ctx, void *programs, uint32_t index)
{
	assert_true(programs == &calls);
	assert_int_equal(index, 0);
	if (tail_calls == 33)
		return -1;
	tail_calls++;
	assert_int_equal(walk_in_calls(ctx), 0);
	longjmp(done, 1);
}
uint64_t bpf_ringbuf_query(void *ring, uint64_t flags)
{
	assert_true(ring == &samples);
	return flags == BPF_RB_RING_SIZE ? RING_BYTES : ring_used;
}
long bpf_ringbuf_output(void *ring, void *data, uint64_t size, uint64_t flags)
{
	assert_true(ring == &samples);
	assert_true(flags == BPF_RB_NO_WAKEUP);
	assert_true(size <= SAMPLE_BYTES_MAX);
	if (ring_full)
		return -11;
	if (((struct sample_record *)data)->flags & SAMPLE_CONTINUES) {
		assert_true(continued < CONTINUED_MAX);
		memcpy(continued_bytes_of[continued++], data, size);
		return 0;
	}
	continued = 0;
	memcpy(sent_bytes_of, data, size);
	sent_bytes = size;
	return 0;
}

static inline void set_registers(uint64_t pc, uint64_t sp, uint64_t fp)
{
#if defined(__TARGET_ARCH_arm64)
	kernel_stack.user = (bpf_user_pt_regs_t){ .pc = pc, .sp = sp, .regs = { [29] = fp } };
#else
	kernel_stack.user = (bpf_user_pt_regs_t){ .rip = pc, .rsp = sp, .rbp = fp, .cs = 0x33 };
#endif
}

/* A stack of `frames` frames, each with a frame pointer and two words more; the last has none. */
static inline void set_stack(uint32_t frames)
{
	memset(stack, 0, sizeof(stack));
	for (uint32_t i = 0; i + 1 < frames; i++) {
		uint64_t *frame = &stack[(size_t)4 * i + 2];

		frame[0] = i + 2 < frames ? STACK_AT + 8 * (uint64_t)(4 * (i + 1) + 2) : 0;
		frame[1] = CODE_AT + i + 1;
	}
	stack_from = STACK_AT;
	stack_to = STACK_AT + sizeof(stack);
	set_registers(CODE_AT, STACK_AT, frames > 1 ? STACK_AT + 16 : 0);
}

static inline void set_up_tick(void)
{
	memset(&counted, 0, sizeof(counted));
	memset(&made, 0xee, sizeof(made)); /* left over from the tick before */
	made.ship_tokens_at_ns = made.ship_tokens_ns = 0;
	memset(sent_bytes_of, 0, sizeof(sent_bytes_of));
	sent_bytes = 0;
	tail_calls = 0;
	reads = lookups = 0;
	now_ns = 1000;
	ring_used = 0;
}

static inline void tick(uint32_t tgid, uint32_t tid, long kernel)
{
	struct bpf_perf_event_data ctx = { 0 };

#if defined(__TARGET_ARCH_arm64)
	ctx.regs.pstate = is_in_user_mode ? 0 : 5;
#else
	ctx.regs.cs = is_in_user_mode ? 0x33 : 0x10;
#endif

	pid_tgid = (uint64_t)tgid << 32 | tid;
	kernel_bytes = kernel;
	if (setjmp(done) == 0)
		assert_int_equal(by_calls ? sample_by_calls(&ctx) : sample(&ctx), 0);
}

static inline void each_program(void **state)
{
	by_calls = *state != NULL;
	has_task_pt_regs = may_guess = true;
	ship_all_stacks = false;
	is_known_process = true;
	known_tgid = 100;
	set_stack(3);
	set_up_tick();
}

/* Of each program: the one with a loop, and the one that calls itself on. */
#define BOTH(claim) \
	cmocka_unit_test_prestate(claim, NULL), cmocka_unit_test_prestate(claim, &leader)
