// SPDX-License-Identifier: Apache-2.0
/*
 * The BPF programs themselves, compiled for the host: which stacks are shipped, how much of each,
 * and how many.
 */
#include "support/played_kernel.h"

/* A process that is not in the map yet, or whose pid another process had. */
static void ships_the_stack_of_an_unknown_process(void **state)
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

		assert_int_equal(counted[STACK_SHIPPED], 1);
		assert_int_equal(counted[STACK_NOT_SHIPPED], 0);
		assert_true(sent->flags & SAMPLE_NEEDS_AGENT_WALK);
		assert_int_equal(sent->stack_bytes, SAMPLE_STACK_BYTES_MAX);
		assert_int_equal(sent_bytes, sample_bytes(sent));
		assert_int_equal(sample_registers(sent)->pc, CODE_AT);
		assert_int_equal(sample_registers(sent)->general[UNWIND_STACK_POINTER], STACK_AT);
		assert_memory_equal(sample_registers(sent) + 1, stack, sent->stack_bytes);
		assert_int_equal(sent->user_frames,
				 3); /* the frames found by frame pointers are sent, too */
	}
}

/* Its list was written while its libraries were still being mapped. */
static void ships_a_stack_whose_walk_left_the_known_mappings(void **state)
{
	each_program(state);
	now_ns = 1000000000;
	tick(100, 100, 16);
	made.walk.end = USER_END_NO_MAPPING;
	made.walk.flags = 0;
	made.record.flags = 0;
	finish(&made);

	assert_true(sent->flags & SAMPLE_NEEDS_AGENT_WALK);
	assert_int_equal(sent->stack_bytes, SAMPLE_STACK_BYTES_MAX);
	assert_int_equal(counted[STACK_SHIPPED], 1);
	assert_int_equal(counted[TRUNCATED_USER_NO_MAPPING], 0);
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
	assert_int_equal(sent->flags & SAMPLE_NEEDS_AGENT_WALK, 0);
	assert_int_equal(sent->owner_start_ns, 0);

	each_program(state);
	known_tgid = 51; /* the parent is not known: the record identifies it */
	tick(100, 100, 16);
	assert_true(sent->flags & SAMPLE_NEEDS_AGENT_WALK);
	assert_int_equal(sent->owner_start_ns, 7);

	each_program(state);
	known_tgid = 50;
	parent.mm = NULL; /* has its own */
	tick(100, 100, 16);
	assert_int_equal(sent->owner_start_ns, 0);
	known = before;
	leader.real_parent = &orphan;
	assert_true(sent->flags & SAMPLE_NEEDS_AGENT_WALK);
}

static void a_long_stack_continues_in_further_records(void **state)
{
	static const struct {
		uint32_t missing; /* bytes of the stack, at its end */
		uint32_t records, last_bytes;
		uint64_t used; /* bytes of the ring */
	} rows[] = {
		{ 0, SAMPLE_STACK_RECORDS - 1, SAMPLE_STACK_BYTES_MAX },
		{ STACK_BYTES - 2 * SAMPLE_STACK_BYTES_MAX, 1, SAMPLE_STACK_BYTES_MAX },
		{ STACK_BYTES - SAMPLE_STACK_BYTES_MAX - 4100, 1, 4096 },
		{ STACK_BYTES - SAMPLE_STACK_BYTES_MAX, 0, 0 },
		{ 0, 0, 0, RING_BYTES / 4 + 1 }, /* that others need more */
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		each_program(state);
		now_ns = 1000000000;
		is_known_process = false;
		for (uint64_t word = 0; word < STACK_WORDS; word++)
			stack[word] = word;
		stack_to -= rows[i].missing;
		ring_used = rows[i].used;
		tick(100, 101, 16);

		assert_int_equal(continued, rows[i].records);
		assert_int_equal(counted[TICK_SENT], 1);
		assert_int_equal(counted[STACK_SHIPPED], 1);
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

static void ships_the_stack_up_to_its_first_absent_page(void **state)
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
	assert_int_equal(counted[STACK_NOT_SHIPPED], 1);
	assert_int_equal(counted[TRUNCATED_USER_NO_TABLE], 1);
}

/* As below a large buffer that was not written to yet. */
static void skips_absent_pages_at_the_stack_pointer(void **state)
{
	for (uint32_t absent = 0; absent <= SAMPLE_STACK_PIECES; absent++) {
		const struct sample_record *more = (void *)continued_bytes_of[0];

		each_program(state);
		now_ns = 1000000000;
		is_known_process = false;
		set_registers(CODE_AT, STACK_AT + 8, 1);
		stack_from += absent * SAMPLE_STACK_PIECE;
		tick(100, 100, 16);

		uint32_t bytes = (SAMPLE_STACK_PIECES - absent) * SAMPLE_STACK_PIECE;

		assert_int_equal(sent->stack_bytes, absent ? bytes : bytes - 8);
		assert_int_equal(sent->flags >> SAMPLE_SKIPPED_AT, bytes ? absent : 0);
		assert_int_equal(sent_bytes, sample_bytes(sent));
		if (!bytes)
			continue;

		uint64_t from = unwind_stack_from(sent);

		assert_int_equal(from, absent ? stack_from : STACK_AT + 8);
		assert_memory_equal(sample_registers(sent) + 1, stack + (from - STACK_AT) / 8,
				    sent->stack_bytes);
		assert_int_equal(unwind_stack_from(more), from + sent->stack_bytes);
	}
}

static void counts_the_end_of_a_walk_only_if_it_is_not_shipped(void **state)
{
	each_program(state);
	now_ns = 1000000000;
	is_known_process = false;
	set_registers(CODE_AT, STACK_AT, 1);
	tick(100, 100, 16);

	assert_int_equal(sent->user_end, USER_END_NO_TABLE);
	assert_true(sent->stack_bytes > 0);
	assert_int_equal(counted[TRUNCATED_USER_NO_TABLE], 0);
}

static void ships_no_more_stacks_than_its_rate(void **state)
{
	each_program(state);
	is_known_process = false;
	now_ns = 3600 * 1000000000ULL; /* a long time since the last */
	for (int i = 0; i < 50; i++)
		tick(100, 100, 16);
	assert_int_equal(counted[STACK_SHIPPED], STACKS_SHIPPED_BURST);
	assert_int_equal(counted[STACK_NOT_SHIPPED], 50 - STACKS_SHIPPED_BURST);

	for (int i = 0; i < 1000; i++, now_ns += 10000000)
		tick(100, 100, 16);
	assert_in_range(counted[STACK_SHIPPED],
			STACKS_SHIPPED_BURST + 10 * STACKS_SHIPPED_PER_SECOND_MIN - 1,
			STACKS_SHIPPED_BURST + 10 * STACKS_SHIPPED_PER_SECOND_MIN);
	assert_int_equal(counted[STACK_SHIPPED] + counted[STACK_NOT_SHIPPED], 1050);
	assert_int_equal(counted[TICK_SENT], 1050);
}

static void leaves_the_second_half_of_the_ring_to_samples(void **state)
{
	each_program(state);
	is_known_process = false;
	now_ns = 1000000000;
	ring_used = RING_BYTES / 2 + 1;
	tick(100, 100, 16);

	assert_int_equal(counted[TICK_SENT], 1);
	assert_int_equal(counted[STACK_NOT_SHIPPED], 1);
	assert_int_equal(sent->stack_bytes, 0);
	assert_true(sent->flags & SAMPLE_NEEDS_AGENT_WALK); /* that it should have */
}

static void ships_walked_stacks_if_a_test_sets_it(void **state)
{
	each_program(state);
	ship_all_stacks = true;
	tick(100, 100, 16);

	assert_int_equal(sent->user_end, USER_END_COMPLETE);
	assert_int_equal(sent->user_frames, 3);
	assert_true(sent->stack_bytes > 0);
	assert_int_equal(sent_bytes, sample_bytes(sent));
	assert_int_equal(sample_registers(sent)->general[UNWIND_STACK_POINTER], STACK_AT);
	assert_false(sent->flags & SAMPLE_NEEDS_AGENT_WALK); /* no agent walk is needed */
	assert_int_equal(counted[STACK_SHIPPED] + counted[STACK_NOT_SHIPPED], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(ships_the_stack_of_an_unknown_process),
		BOTH(ships_a_stack_whose_walk_left_the_known_mappings),
		BOTH(walks_a_vfork_child_in_the_mappings_of_its_parent),
		BOTH(a_long_stack_continues_in_further_records),
		BOTH(ships_the_stack_up_to_its_first_absent_page),
		BOTH(skips_absent_pages_at_the_stack_pointer),
		BOTH(counts_the_end_of_a_walk_only_if_it_is_not_shipped),
		BOTH(ships_no_more_stacks_than_its_rate),
		BOTH(leaves_the_second_half_of_the_ring_to_samples),
		BOTH(ships_walked_stacks_if_a_test_sets_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
