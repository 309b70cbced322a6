// SPDX-License-Identifier: Apache-2.0
/*
 * The BPF programs themselves, compiled for the host: this file plays the kernel.
 */
#include "../../bpf/sampler.bpf.c"
#include "test.h"

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
static struct remembered remembered_rules;
static uint8_t sent_bytes_of[SAMPLE_BYTES_MAX];
static struct sample_record *sent = (void *)sent_bytes_of;
static uint64_t pid_tgid, now_ns, sent_bytes, counted[SAMPLER_COUNT_COUNT], ring_held;
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
	if (map == &remembered)
		return &remembered_rules;
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
/* It does not come back, unless there were too many. */
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
	return flags == BPF_RB_RING_SIZE ? RING_BYTES : ring_held;
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

static void set_registers(uint64_t pc, uint64_t sp, uint64_t fp)
{
#if defined(__TARGET_ARCH_arm64)
	kernel_stack.user = (bpf_user_pt_regs_t){ .pc = pc, .sp = sp, .regs = { [29] = fp } };
#else
	kernel_stack.user = (bpf_user_pt_regs_t){ .rip = pc, .rsp = sp, .rbp = fp, .cs = 0x33 };
#endif
}

/* A stack of so many frames, each with a frame pointer and two words more; the last has none. */
static void set_stack(uint32_t frames)
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

static void set_up_tick(void)
{
	memset(&counted, 0, sizeof(counted));
	memset(&made, 0xee, sizeof(made)); /* what the tick before left there */
	made.travels_at_ns = made.travels_left_ns = 0;
	memset(sent_bytes_of, 0, sizeof(sent_bytes_of));
	sent_bytes = 0;
	tail_calls = 0;
	reads = lookups = 0;
	now_ns = 1000;
	ring_held = 0;
}

static void tick(uint32_t tgid, uint32_t tid, long kernel)
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

static void each_program(void **state)
{
	by_calls = *state != NULL;
	has_task_pt_regs = may_guess = true;
	all_travel = false;
	is_known_process = true;
	known_tgid = 100;
	set_stack(3);
	set_up_tick();
}

static void sends_both_stacks_and_no_more_bytes_than_they_have(void **state)
{
	each_program(state);
	tick(100, 101, 16);

	assert_int_equal(counted[TICK_SENT], 1);
	assert_int_equal(sent_bytes, offsetof(struct sample_record, frames) + 40);
	assert_int_equal(sent_bytes, sample_bytes(sent));
	assert_int_equal(sent->kernel_frames, 2);
	assert_int_equal(sent->user_frames, 3);
	assert_memory_equal(sent->frames, "kkkkkkkkkkkkkkkk", 16);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(sent->frames[2 + i], CODE_AT + i);
	assert_int_equal(sent->user_end, USER_END_COMPLETE);
	assert_int_equal(sent->flags, SAMPLE_FRAME_POINTERS);
}

static void reads_many_frames_of_the_stack_at_once(void **state)
{
	each_program(state);
	set_stack(61); /* of 32 bytes each: 1,920 bytes */
	tick(100, 101, 16);

	assert_int_equal(sent->user_frames, 61);
	assert_int_equal(sent->user_end, USER_END_COMPLETE);
	assert_in_range(reads, 4, 5);
}

static void reads_word_by_word_where_the_stack_ends(void **state)
{
	each_program(state);
	set_stack(20);
	stack_to = STACK_AT + 8 * (4 * 18 + 2 + 2); /* behind the last frame */
	tick(100, 101, 16);

	assert_int_equal(sent->user_frames, 20);
	assert_int_equal(sent->user_end, USER_END_COMPLETE);
}

static void reads_frames_that_are_not_aligned(void **state)
{
	each_program(state);
	memmove((char *)stack + 4, stack, sizeof(stack) - 8);
	set_registers(CODE_AT, STACK_AT, STACK_AT + 20);
	*(uint64_t *)(void *)((char *)stack + 20) = 0;
	tick(100, 101, 16);

	assert_int_equal(sent->user_frames, 2);
	assert_int_equal(sent->user_end, USER_END_COMPLETE);
}

static void looks_a_process_up_once_while_lists_are_as_they_were(void **state)
{
	each_program(state);
	tick(100, 101, 16);
	assert_int_equal(lookups, 1);
	tick(100, 102, 16);
	assert_int_equal(lookups, 1);
	assert_int_equal(sent->user_frames, 3);

	generation.lists++;
	tick(100, 101, 16);
	assert_int_equal(lookups, 2);
	assert_int_equal(sent->user_frames, 3);
}

static void looks_up_a_process_that_has_done_an_exec(void **state)
{
	each_program(state);
	tick(100, 101, 16);
	leader.self_exec_id++;
	known.exec_id++;
	tick(100, 101, 16);
	leader.self_exec_id--;
	known.exec_id--;

	assert_int_equal(lookups, 2);
	assert_int_equal(sent->user_frames, 3);
}

static void tells_the_process_by_its_leader_and_the_thread_by_itself(void **state)
{
	each_program(state);
	tick(100, 101, 16);

	assert_int_equal(sent->time_ns, 1000);
	assert_int_equal(sent->start_ns, 77);
	assert_int_equal(sent->exec_id, 3);
	assert_int_equal(sent->cgroup_id, 9);
	assert_int_equal(sent->tgid, 100);
	assert_int_equal(sent->tid, 101);
	assert_int_equal(sent->cpu, 1);
	assert_int_equal(sent->stack_bytes, 0);
	assert_string_equal(sent->comm, "nginx");
	assert_string_equal(sent->thread_comm, "worker");
}

static void keeps_a_kernel_thread_and_asks_for_no_user_stack(void **state)
{
	each_program(state);
	task.flags = PF_KTHREAD;
	task.mm = NULL;
	tick(2, 2, 16);
	task.flags = 0;
	task.mm = &memory;

	assert_int_equal(counted[TICK_SENT], 1);
	assert_int_equal(sent->flags, SAMPLE_KERNEL_THREAD);
	assert_int_equal(sent->kernel_frames, 2);
	assert_int_equal(sent->user_frames, 0);
	assert_int_equal(sent->user_end, USER_END_NONE);
}

static void keeps_a_process_at_its_end_that_has_no_memory_any_more(void **state)
{
	each_program(state);
	task.mm = NULL;
	tick(100, 100, 16);
	task.mm = &memory;

	assert_int_equal(counted[TICK_SENT], 1);
	assert_int_equal(sent->flags, 0);
	assert_int_equal(sent->user_end, USER_END_NONE);
}

static void asks_for_no_kernel_stack_of_a_tick_in_user_mode(void **state)
{
	each_program(state);
	is_in_user_mode = true;
	tick(100, 101, 16);
	is_in_user_mode = false;

	assert_int_equal(sent->kernel_frames, 0);
	assert_int_equal(sent->user_frames, 3);
}

/* A worker of the kernel's own that borrows a process' memory. */
static void has_no_user_stack_of_a_thread_that_never_was_in_user_mode(void **state)
{
	each_program(state);
	set_registers(0, 0, 0);
	tick(100, 101, 16);

	assert_int_equal(counted[TICK_SENT], 1);
	assert_int_equal(sent->user_frames, 0);
	assert_int_equal(sent->user_end, USER_END_NONE);
}

static void finds_the_registers_where_no_helper_tells_them(void **state)
{
	each_program(state);
	has_task_pt_regs = false;
	task.stack = &kernel_stack;
	tick(100, 100, 16);
	task.stack = NULL;

	assert_int_equal(sent->user_frames, 3);
	assert_int_equal(sent->user_end, USER_END_COMPLETE);
}

static void keeps_a_32bit_process_without_its_user_stack(void **state)
{
	each_program(state);
#if defined(__TARGET_ARCH_arm64)
	kernel_stack.user.pstate = 0x10;
#else
	kernel_stack.user.cs = 0x23;
#endif
	tick(100, 100, 16);

	assert_int_equal(counted[TICK_SENT], 1);
	REASON_MOVED("agent.user_32bit", counted[CUT_USER_32BIT], 1);
	assert_int_equal(sent->kernel_frames, 2);
	assert_int_equal(sent->user_frames, 0);
	assert_int_equal(sent->user_end, USER_END_32BIT);
}

static void keeps_a_process_whose_stacks_cannot_be_read(void **state)
{
	each_program(state);
	stack_to = stack_from;
	tick(100, 100, -14);

	assert_int_equal(counted[TICK_SENT], 1);
	REASON_MOVED("agent.user_no_table", counted[CUT_USER_NO_TABLE], 1);
	assert_int_equal(sent->kernel_frames, 0);
	assert_int_equal(sent->user_frames, 1); /* where it stands is known */
	assert_int_equal(sent->user_end, USER_END_NO_TABLE);
}

static void counts_a_kernel_stack_that_fills_its_room_as_cut(void **state)
{
	each_program(state);
	tick(100, 100, KERNEL_ROOM);

	assert_int_equal(counted[TICK_SENT], 1);
	REASON_MOVED("agent.kernel_too_deep", counted[CUT_KERNEL_TOO_DEEP], 1);
	assert_int_equal(sent->user_frames, 3);
}

/* kernel.perf_event_max_stack may be lower than our room. */
static void counts_a_stack_that_the_kernel_itself_cuts(void **state)
{
	each_program(state);
	frames_max = 16;
	tick(100, 100, 16 * sizeof(uint64_t));
	assert_int_equal(counted[CUT_KERNEL_TOO_DEEP], 1);
	tick(100, 100, 15 * sizeof(uint64_t));
	frames_max = KERNEL_FRAMES_MAX;

	assert_int_equal(counted[CUT_KERNEL_TOO_DEEP], 1);
}

static void walks_512_frames_in_a_loop_and_231_by_calls(void **state)
{
	each_program(state);

	const uint32_t most = by_calls ? 33 * 7 : 512;

	set_stack(most);
	tick(100, 100, KERNEL_ROOM);

	assert_int_equal(sent->user_frames, most);
	assert_int_equal(sent->user_end, USER_END_COMPLETE);
	assert_int_equal(sent->frames[sent->kernel_frames + most - 1], CODE_AT + most - 1);
	assert_int_equal(counted[CUT_USER_TOO_DEEP], 0);
}

static void counts_a_user_stack_that_is_deeper_as_cut(void **state)
{
	each_program(state);

	const uint32_t most = by_calls ? 33 * 7 : 512;

	set_stack(most + 1);
	tick(100, 100, KERNEL_ROOM);

	assert_int_equal(counted[TICK_SENT], 1);
	assert_int_equal(counted[CUT_USER_TOO_DEEP], 1);
	assert_int_equal(sent->user_frames, most);
	assert_int_equal(sent->user_end, USER_END_TOO_DEEP);
	if (!by_calls)
		assert_int_equal(sent_bytes, sizeof(struct sample_record));
}

static void counts_a_full_ring_as_lost_and_nothing_else(void **state)
{
	each_program(state);
	ring_full = true;
	set_stack(600);
	tick(100, 100, KERNEL_ROOM);
	ring_full = false;

	assert_int_equal(counted[TICK_RING_FULL], 1);
	for (int what = 0; what < SAMPLER_COUNT_COUNT; what++)
		assert_int_equal(counted[what], what == TICK_RING_FULL);
}

static void skips_idle_but_counts_it(void **state)
{
	each_program(state);
	tick(0, 0, 16);

	assert_int_equal(counted[TICK_IDLE], 1);
	assert_int_equal(sent_bytes, 0);
}

/* What the agent has not told of yet, or what had its pid before. */
static void lets_the_stack_of_an_unknown_process_travel(void **state)
{
	const struct unwind_process others[] = { { .start_ns = 76, .exec_id = 3 },
						 { .start_ns = 77, .exec_id = 2 } };
	const struct unwind_process before = known;

	for (size_t i = 0; i < 3; i++) {
		each_program(state);
		now_ns = 1000000000;
		is_known_process = i < 2;
		known = i < 2 ? others[i] : before;
		tick(100, 100, 16);
		known = before;

		assert_int_equal(counted[STACK_TRAVELLED], 1);
		assert_int_equal(counted[STACK_STAYED], 0);
		assert_true(sent->flags & SAMPLE_STACK_TRAVELS);
		assert_int_equal(sent->stack_bytes, SAMPLE_STACK_BYTES_MAX);
		assert_int_equal(sent_bytes, sample_bytes(sent));
		assert_int_equal(sample_registers(sent)->pc, CODE_AT);
		assert_int_equal(sample_registers(sent)->general[UNWIND_STACK_POINTER], STACK_AT);
		assert_memory_equal(sample_registers(sent) + 1, stack, sent->stack_bytes);
		assert_int_equal(sent->user_frames, 3); /* what frame pointers say goes too */
	}
}

/* Its list was written while its libraries were still being mapped. */
static void lets_a_stack_travel_whose_walk_left_the_known_mappings(void **state)
{
	each_program(state);
	now_ns = 1000000000;
	tick(100, 100, 16);
	made.walk.end = USER_END_NO_MAPPING;
	made.walk.flags = 0;
	made.record.flags = 0;
	finish(&made);

	assert_true(sent->flags & SAMPLE_STACK_TRAVELS);
	assert_int_equal(sent->stack_bytes, SAMPLE_STACK_BYTES_MAX);
	assert_int_equal(counted[STACK_TRAVELLED], 1);
	assert_int_equal(counted[CUT_USER_NO_MAPPING], 0);
}

static void walks_a_vfork_child_in_the_mappings_of_its_parent(void **state)
{
	static struct task_struct parent = { .tgid = 50,
					     .start_boottime = 7,
					     .self_exec_id = 1,
					     .group_leader = &parent,
					     .mm = &memory };
	const struct unwind_process before = known;

	each_program(state);
	leader.real_parent = &parent;
	parent.mm = &memory;
	known_tgid = 50;
	known.start_ns = 7;
	known.exec_id = 1;
	tick(100, 100, 16);
	assert_int_equal(sent->flags & SAMPLE_STACK_TRAVELS, 0);
	assert_int_equal(sent->owner_start_ns, 0);

	each_program(state);
	known_tgid = 51; /* the parent is not: it says who that is */
	tick(100, 100, 16);
	assert_true(sent->flags & SAMPLE_STACK_TRAVELS);
	assert_int_equal(sent->owner_start_ns, 7);

	each_program(state);
	known_tgid = 50;
	parent.mm = NULL; /* has its own */
	tick(100, 100, 16);
	assert_int_equal(sent->owner_start_ns, 0);
	known = before;
	leader.real_parent = &orphan;
	assert_true(sent->flags & SAMPLE_STACK_TRAVELS);
}

static void a_stack_of_which_there_is_more_goes_on_in_records_of_its_own(void **state)
{
	static const struct {
		uint32_t missing; /* bytes of the stack, at its end */
		uint32_t records, last_bytes;
	} rows[] = {
		{ 0, SAMPLE_STACK_RECORDS - 1, SAMPLE_STACK_BYTES_MAX },
		{ STACK_BYTES - 2 * SAMPLE_STACK_BYTES_MAX, 1, SAMPLE_STACK_BYTES_MAX },
		{ STACK_BYTES - SAMPLE_STACK_BYTES_MAX - 4100, 1, 4096 },
		{ STACK_BYTES - SAMPLE_STACK_BYTES_MAX, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		each_program(state);
		now_ns = 1000000000;
		is_known_process = false;
		for (uint64_t word = 0; word < STACK_WORDS; word++)
			stack[word] = word;
		stack_to -= rows[i].missing;
		tick(100, 101, 16);

		assert_int_equal(continued, rows[i].records);
		assert_int_equal(counted[TICK_SENT], 1);
		assert_int_equal(counted[STACK_TRAVELLED], 1);
		for (uint32_t k = 0; k < continued; k++) {
			const struct sample_record *more = (void *)continued_bytes_of[k];
			uint64_t at = (uint64_t)(k + 1) * SAMPLE_STACK_BYTES_MAX;

			assert_int_equal(more->time_ns, sent->time_ns);
			assert_int_equal(more->cpu, sent->cpu);
			assert_int_equal(more->tid, 101);
			assert_int_equal(more->kernel_frames + more->user_frames, 0);
			assert_int_equal(more->stack_bytes, k + 1 < continued
								    ? SAMPLE_STACK_BYTES_MAX
								    : rows[i].last_bytes);
			assert_int_equal(sample_registers(more)->general[UNWIND_STACK_POINTER],
					 STACK_AT + at);
			assert_memory_equal(sample_registers(more) + 1, stack + at / 8,
					    more->stack_bytes);
		}
	}
}

static void takes_the_stack_along_up_to_its_first_absent_page(void **state)
{
	each_program(state);
	now_ns = 1000000000;
	is_known_process = false;
	stack_to = STACK_AT + 4096;
	set_registers(CODE_AT, STACK_AT + 4096 - 24, STACK_AT);
	stack_to = STACK_AT + 4096;
	tick(100, 100, 16);

	assert_int_equal(sent->stack_bytes, 24);
	assert_int_equal(sent_bytes, sample_bytes(sent));

	each_program(state);
	now_ns = 1000000000;
	is_known_process = false;
	stack_to = stack_from;
	tick(100, 100, 16);

	assert_int_equal(sent->stack_bytes, 0);
	assert_int_equal(sent_bytes, sample_bytes(sent));
	assert_int_equal(counted[STACK_STAYED], 1);
	assert_int_equal(counted[CUT_USER_NO_TABLE], 1);
}

static void counts_the_end_of_a_walk_only_if_nobody_goes_on_with_it(void **state)
{
	each_program(state);
	now_ns = 1000000000;
	is_known_process = false;
	set_registers(CODE_AT, STACK_AT, 1);
	tick(100, 100, 16);

	assert_int_equal(sent->user_end, USER_END_NO_TABLE);
	assert_true(sent->stack_bytes > 0);
	assert_int_equal(counted[CUT_USER_NO_TABLE], 0);
}

static void lets_no_more_stacks_travel_than_its_rate(void **state)
{
	each_program(state);
	is_known_process = false;
	now_ns = 3600 * 1000000000ULL; /* a long time since the last */
	for (int i = 0; i < 50; i++)
		tick(100, 100, 16);
	assert_int_equal(counted[STACK_TRAVELLED], TRAVELS_BURST);
	assert_int_equal(counted[STACK_STAYED], 50 - TRAVELS_BURST);

	for (int i = 0; i < 1000; i++, now_ns += 10000000)
		tick(100, 100, 16);
	assert_in_range(counted[STACK_TRAVELLED], TRAVELS_BURST + 10 * TRAVELS_PER_SECOND_MIN - 1,
			TRAVELS_BURST + 10 * TRAVELS_PER_SECOND_MIN);
	assert_int_equal(counted[STACK_TRAVELLED] + counted[STACK_STAYED], 1050);
	assert_int_equal(counted[TICK_SENT], 1050);
}

static void leaves_the_second_half_of_the_ring_to_samples(void **state)
{
	each_program(state);
	is_known_process = false;
	now_ns = 1000000000;
	ring_held = RING_BYTES / 2 + 1;
	tick(100, 100, 16);

	assert_int_equal(counted[TICK_SENT], 1);
	assert_int_equal(counted[STACK_STAYED], 1);
	assert_int_equal(sent->stack_bytes, 0);
	assert_true(sent->flags & SAMPLE_STACK_TRAVELS); /* that it should have */
}

static void takes_along_what_it_has_walked_if_a_test_asks_for_it(void **state)
{
	each_program(state);
	all_travel = true;
	tick(100, 100, 16);

	assert_int_equal(sent->user_end, USER_END_COMPLETE);
	assert_int_equal(sent->user_frames, 3);
	assert_true(sent->stack_bytes > 0);
	assert_int_equal(sent_bytes, sample_bytes(sent));
	assert_int_equal(sample_registers(sent)->general[UNWIND_STACK_POINTER], STACK_AT);
	assert_false(sent->flags & SAMPLE_STACK_TRAVELS); /* nobody needs it */
	assert_int_equal(counted[STACK_TRAVELLED] + counted[STACK_STAYED], 0);
}

/* Of each program: the one with a loop, and the one that calls itself on. */
#define BOTH(claim) \
	cmocka_unit_test_prestate(claim, NULL), cmocka_unit_test_prestate(claim, &leader)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(sends_both_stacks_and_no_more_bytes_than_they_have),
		BOTH(reads_many_frames_of_the_stack_at_once),
		BOTH(reads_word_by_word_where_the_stack_ends),
		BOTH(reads_frames_that_are_not_aligned),
		BOTH(looks_a_process_up_once_while_lists_are_as_they_were),
		BOTH(looks_up_a_process_that_has_done_an_exec),
		BOTH(tells_the_process_by_its_leader_and_the_thread_by_itself),
		BOTH(keeps_a_kernel_thread_and_asks_for_no_user_stack),
		BOTH(keeps_a_process_at_its_end_that_has_no_memory_any_more),
		BOTH(asks_for_no_kernel_stack_of_a_tick_in_user_mode),
		BOTH(has_no_user_stack_of_a_thread_that_never_was_in_user_mode),
		BOTH(finds_the_registers_where_no_helper_tells_them),
		BOTH(keeps_a_32bit_process_without_its_user_stack),
		BOTH(keeps_a_process_whose_stacks_cannot_be_read),
		BOTH(counts_a_kernel_stack_that_fills_its_room_as_cut),
		BOTH(counts_a_stack_that_the_kernel_itself_cuts),
		BOTH(walks_512_frames_in_a_loop_and_231_by_calls),
		BOTH(counts_a_user_stack_that_is_deeper_as_cut),
		BOTH(counts_a_full_ring_as_lost_and_nothing_else),
		BOTH(skips_idle_but_counts_it),
		BOTH(lets_the_stack_of_an_unknown_process_travel),
		BOTH(lets_a_stack_travel_whose_walk_left_the_known_mappings),
		BOTH(walks_a_vfork_child_in_the_mappings_of_its_parent),
		BOTH(a_stack_of_which_there_is_more_goes_on_in_records_of_its_own),
		BOTH(takes_the_stack_along_up_to_its_first_absent_page),
		BOTH(counts_the_end_of_a_walk_only_if_nobody_goes_on_with_it),
		BOTH(lets_no_more_stacks_travel_than_its_rate),
		BOTH(leaves_the_second_half_of_the_ring_to_samples),
		BOTH(takes_along_what_it_has_walked_if_a_test_asks_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
