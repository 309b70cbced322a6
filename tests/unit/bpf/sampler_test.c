// SPDX-License-Identifier: Apache-2.0
/*
 * The BPF programs themselves, compiled for the host: the record of a tick, and the counters.
 */
#include "support/played_kernel.h"

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
	memset((char *)stack + 20, 0, sizeof(uint64_t));
	tick(100, 101, 16);

	assert_int_equal(sent->user_frames, 2);
	assert_int_equal(sent->user_end, USER_END_COMPLETE);
}

static void looks_a_process_up_once_while_lists_are_unchanged(void **state)
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

static void records_the_process_of_the_leader_and_the_thread_itself(void **state)
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

static void keeps_an_exiting_process_without_memory(void **state)
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

static void finds_the_registers_without_the_helper(void **state)
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
	REASON_MOVED("agent.user_32bit", counted[TRUNCATED_USER_32BIT], 1);
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
	REASON_MOVED("agent.user_no_table", counted[TRUNCATED_USER_NO_TABLE], 1);
	assert_int_equal(sent->kernel_frames, 0);
	assert_int_equal(sent->user_frames, 1); /* its program counter is known */
	assert_int_equal(sent->user_end, USER_END_NO_TABLE);
}

/* The memory is the new program's already, and the registers are still the old one's. */
static void detects_a_process_during_exec(void **state)
{
	for (int i = 0; i < 2; i++) {
		each_program(state);
		is_known_process = i > 0;
		task.in_execve = true;
		stack_to = stack_from;
		tick(100, 100, 16);
		task.in_execve = false;

		assert_int_equal(counted[TICK_SENT], 1);
		REASON_MOVED("agent.user_exec", counted[TRUNCATED_USER_EXEC], 1);
		assert_int_equal(counted[TRUNCATED_USER_NO_TABLE] + counted[STACK_NOT_SHIPPED], 0);
		assert_int_equal(sent->user_end, USER_END_EXEC);
		assert_int_equal(sent->flags, 0);
		assert_int_equal(sent->user_frames, 1); /* where exec was called */
		assert_int_equal(sent->frames[sent->kernel_frames], CODE_AT);
	}
}

static void walks_a_process_whose_exec_has_not_replaced_its_memory_yet(void **state)
{
	each_program(state);
	now_ns = 1000000000;
	is_known_process = false;
	task.in_execve = true;
	set_registers(CODE_AT, STACK_AT, 1);
	tick(100, 100, 16);
	task.in_execve = false;

	assert_int_equal(sent->user_end, USER_END_NO_TABLE);
	assert_true(sent->stack_bytes > 0); /* the agent will walk it */
	assert_int_equal(counted[TRUNCATED_USER_EXEC], 0);
}

static void counts_a_kernel_stack_that_fills_its_room_as_truncated(void **state)
{
	each_program(state);
	tick(100, 100, KERNEL_ROOM);

	assert_int_equal(counted[TICK_SENT], 1);
	REASON_MOVED("agent.kernel_too_deep", counted[TRUNCATED_KERNEL_TOO_DEEP], 1);
	assert_int_equal(sent->user_frames, 3);
}

/* kernel.perf_event_max_stack may be lower than our room. */
static void counts_a_stack_that_the_kernel_itself_truncates(void **state)
{
	each_program(state);
	frames_max = 16;
	tick(100, 100, 16 * sizeof(uint64_t));
	assert_int_equal(counted[TRUNCATED_KERNEL_TOO_DEEP], 1);
	tick(100, 100, 15 * sizeof(uint64_t));
	frames_max = KERNEL_FRAMES_MAX;

	assert_int_equal(counted[TRUNCATED_KERNEL_TOO_DEEP], 1);
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
	assert_int_equal(counted[TRUNCATED_USER_TOO_DEEP], 0);
}

static void counts_a_user_stack_that_is_deeper_as_truncated(void **state)
{
	each_program(state);

	const uint32_t most = by_calls ? 33 * 7 : 512;

	set_stack(most + 1);
	tick(100, 100, KERNEL_ROOM);

	assert_int_equal(counted[TICK_SENT], 1);
	assert_int_equal(counted[TRUNCATED_USER_TOO_DEEP], 1);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(sends_both_stacks_and_no_more_bytes_than_they_have),
		BOTH(reads_many_frames_of_the_stack_at_once),
		BOTH(reads_word_by_word_where_the_stack_ends),
		BOTH(reads_frames_that_are_not_aligned),
		BOTH(looks_a_process_up_once_while_lists_are_unchanged),
		BOTH(looks_up_a_process_that_has_done_an_exec),
		BOTH(records_the_process_of_the_leader_and_the_thread_itself),
		BOTH(keeps_a_kernel_thread_and_asks_for_no_user_stack),
		BOTH(keeps_an_exiting_process_without_memory),
		BOTH(asks_for_no_kernel_stack_of_a_tick_in_user_mode),
		BOTH(has_no_user_stack_of_a_thread_that_never_was_in_user_mode),
		BOTH(finds_the_registers_without_the_helper),
		BOTH(keeps_a_32bit_process_without_its_user_stack),
		BOTH(keeps_a_process_whose_stacks_cannot_be_read),
		BOTH(detects_a_process_during_exec),
		BOTH(walks_a_process_whose_exec_has_not_replaced_its_memory_yet),
		BOTH(counts_a_kernel_stack_that_fills_its_room_as_truncated),
		BOTH(counts_a_stack_that_the_kernel_itself_truncates),
		BOTH(walks_512_frames_in_a_loop_and_231_by_calls),
		BOTH(counts_a_user_stack_that_is_deeper_as_truncated),
		BOTH(counts_a_full_ring_as_lost_and_nothing_else),
		BOTH(skips_idle_but_counts_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
