// SPDX-License-Identifier: Apache-2.0
/*
 * The walk of user stacks without rows: by frame pointers, and by guesses in generated
 * code.
 */
#include "support/unwind_stand.h"

static void follows_the_frame_pointer_without_a_loaded_table(void **state)
{
	(void)state;
	stand_at(OTHER_AT);
	registers.general[FP] = at(10);
	stack[10] = at(40);
	stack[11] = CODE_AT + APART_AT + 1; /* has a table: from here on by rows */
	stack[12 + 1] = at(50);
	stack[12 + 3] = IN_ROOT;
	run();
	reaches_the_root(3, SAMPLE_FRAME_POINTERS);
	assert_int_equal(walker.now.general[FP], at(50));

	stand_at(CODE_AT + PLAIN_AT);
	has_page[TABLE] = false; /* it was removed meanwhile */
	registers.general[FP] = at(10);
	stack[11] = OTHER_AT + 1;
	run();
	ends(USER_END_COMPLETE, 2);
	assert_int_equal(walker.flags, SAMPLE_FRAME_POINTERS);
}

static void asks_for_an_agent_walk_of_an_awaited_table(void **state)
{
	const struct unwind_mapping awaited = { OTHER_AT, OTHER_AT + CODE_BYTES, 0, 0,
						UNWIND_MAPPING_AWAITED };

	(void)state;
	stand_at(OTHER_AT);
	registers.general[FP] = at(10);
	memcpy(pages[LIST] + sizeof(awaited), &awaited, sizeof(awaited)); /* its table is built */
	stack[11] = IN_ROOT;
	run();
	reaches_the_root(2, SAMPLE_FRAME_POINTERS | SAMPLE_NEEDS_AGENT_WALK);

	stand_at(CODE_AT + PLAIN_AT);
	stack[1] = stack[3] = IN_ROOT;
	process.flags = UNWIND_PROCESS_REMAPPED; /* its mappings may be others by now */
	run();
	process.flags = 0;
	assert_int_equal(walker.flags & SAMPLE_NEEDS_AGENT_WALK, SAMPLE_NEEDS_AGENT_WALK);
}

static void follows_the_frame_pointer_without_a_row(void **state)
{
	(void)state;
	stand_at(CODE_AT + NOTHING_AT);
	registers.general[FP] = at(10);
	stack[11] = IN_ROOT;
	run();
	reaches_the_root(2, SAMPLE_FRAME_POINTERS);
}

static void follows_the_frame_pointer_in_generated_code(void **state)
{
	(void)state;
	stand_at(JIT_AT);
	registers.general[FP] = at(10);
	stack[10] = at(20);
	stack[11] = JIT_AT + 0x20;
	stack[21] = IN_ROOT;
	called_from = IN_ROOT; /* recognized by an outermost frame pointer that leads nowhere */
	run();
	reaches_the_root(3, SAMPLE_FRAME_POINTERS);
}

/* HotSpot's compiled code uses the frame pointer for anything. */
static void guesses_the_caller_of_generated_code_that_keeps_no_frame_pointer(void **state)
{
	(void)state;
	stand_at(JIT_AT + 0x100);
	registers.general[FP] = 0;
	stack[3] = JIT_AT + 0x300;   /* returned to long ago: no call ends there */
	stack[5] = JIT_AT + 0x20000; /* near, and not code */
	stack[9] = at(12);           /* what an interpreter keeps, under where it goes on */
	stack[10] = JIT_AT + 0x400;
	stack[12] = 1;
	stack[13] = JIT_AT + 0x500;
	stack[13 + 200] = 77; /* a long frame */
	stack[14 + 200] = IN_ROOT;
	called_from = IN_ROOT;
	run();
	reaches_the_root(3, SAMPLE_GUESSED); /* no call ends at 0x500 */

	stack[12] = at(300);
	run();
	reaches_the_root(4, SAMPLE_GUESSED | SAMPLE_FRAME_POINTERS);
	assert_int_equal(frames[1], JIT_AT + 0x400);
	assert_int_equal(frames[2], JIT_AT + 0x500);
	assert_int_equal(walker.now.general[SP], at(15 + 200));
	assert_int_equal(walker.now.general[FP], 77);
}

/* It calls file code without frame pointers and is called from such code: the register still has
 * the frame of an outer function. */
static void prefers_a_return_address_below_a_frame_pointer_that_leads_to_file_code(void **state)
{
	(void)state;
	stand_at(JIT_AT + 0x100);
	registers.general[FP] = at(50);
	stack[3] = CODE_AT + PLAIN_AT + 1;
	stack[3 + 2] = IN_ROOT;
	stack[51] = IN_ROOT;
	called_from = IN_ROOT;
	called_from_too = CODE_AT + PLAIN_AT + 1;
	run();
	reaches_the_root(3, SAMPLE_GUESSED);
	assert_int_equal(frames[1], CODE_AT + PLAIN_AT + 1);
	assert_int_equal(walker.now.general[FP], at(50)); /* callers need it */

	called_from_too = 0; /* no call ends there: the word is data */
	stack[3 + 2] = 0;
	run();
	reaches_the_root(2, SAMPLE_FRAME_POINTERS);

	registers.general[FP] = at(200); /* words of several rounds lie below */
	stack[201] = IN_ROOT;
	stack[51] = 0;
	run();
	reaches_the_root(2, SAMPLE_FRAME_POINTERS);
}

static void finds_a_caller_in_the_program_far_from_generated_code(void **state)
{
	const uint64_t far_at = CODE_AT + 4ULL * UNWIND_GUESS_RANGE;
	const struct unwind_mapping list[] = {
		{ CODE_AT, CODE_AT + CODE_BYTES, BIAS, TABLE, 0 },
		{ far_at, far_at + CODE_BYTES, 0, 0, UNWIND_MAPPING_ANONYMOUS },
	};

	(void)state;
	stand_at(far_at);
	put_list(list, ARRAY_LEN(list));
	walker.generation.lists++;
	registers.general[FP] = 0;
	stack[2] = IN_ROOT;
	called_from = IN_ROOT;
	run();
	reaches_the_root(2, SAMPLE_GUESSED);
}

static void stops_guessing_after_8_kilobytes(void **state)
{
	(void)state;
	stand_at(JIT_AT);
	registers.general[SP] = STACK_AT - sizeof(stack);
	run();
	ends(USER_END_BAD_FRAME, 1);

	stand_at(JIT_AT);
	run();
	ends(USER_END_BAD_FRAME, 1);
	assert_in_range(reads, 8, UNWIND_GUESSES_MAX);
}

static void knows_the_forms_of_a_call(void **state)
{
#if defined(__TARGET_ARCH_arm64)
	const uint64_t calls[] = { 0x94000000ULL << 32, 0x97ffffffULL << 32, 0xd63f03c0ULL << 32 };
	const uint64_t others[] = { 0, 0x14000000ULL << 32, 0xd61f0000ULL << 32, 0x94000000 };
#else
	const uint64_t calls[] = {
		0x12345678e8000000, /* call place */
		0xd0ff000000000000, /* call *%rax */
		0xd2ff410000000000, /* call *%r10 */
		0x13ff000000000000, /* call *(%rbx) */
		0x0853ff0000000000, /* call *8(%rbx) */
		0x082454ff00000000, /* call *8(%rsp) */
		0x0000010093ff0000, /* call *256(%rbx) */
		0x0000010015ff0000, /* call *256(%rip) */
		0x000001002494ff00, /* call *256(%rsp) */
	};
	const uint64_t others[] = { 0, UINT64_MAX, 0x12345678e9000000, 0xe0ff000000000000 };
#endif

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		assert_true(unwind_is_call(calls[i]));
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		assert_false(unwind_is_call(others[i]));
}

static void finds_the_lowest_bit(void **state)
{
	(void)state;
	assert_int_equal(unwind_lowest(0), 0);
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(unwind_lowest(UINT64_MAX << i), i);
}

static void reports_why_frame_pointers_led_to_no_code(void **state)
{
	const struct {
		uint64_t pc;
		enum user_end end;
	} places[] = { { OTHER_AT, USER_END_NO_TABLE },
		       { CODE_AT + NOTHING_AT, USER_END_NO_ROW },
		       { CODE_AT + CODE_BYTES, USER_END_NO_MAPPING },
		       { JIT_AT, USER_END_BAD_FRAME } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		stand_at(places[i].pc);
		registers.general[FP] = 0; /* a leaf may have anything in it, 0 too */
		run();
		ends(places[i].end, 1);

		stand_at(places[i].pc);
		registers.general[FP] = 0x666000; /* not there */
		run();
		ends(places[i].end, 1);

		stand_at(places[i].pc);
		registers.general[SP] = at(20);
		registers.general[FP] = at(10); /* below the frame */
		stack[11] = IN_ROOT;
		run();
		ends(places[i].end, 1);

		stand_at(places[i].pc);
		registers.general[FP] = at(10);
		stack[11] = 0x1234; /* no code */
		run();
		ends(places[i].end, 1);
		assert_int_equal(walker.flags & ~(uint32_t)SAMPLE_NEEDS_AGENT_WALK,
				 places[i].pc == JIT_AT ? 0 : SAMPLE_FRAME_POINTERS);
	}
	REASON_MOVED("agent.user_no_row", places[1].end, USER_END_NO_ROW);
}

static void a_frame_pointer_of_0_is_the_root_of_a_caller(void **state)
{
	(void)state;
	stand_at(CODE_AT + PLAIN_AT);
	stack[1] = OTHER_AT + 1;
	run();
	ends(USER_END_COMPLETE, 2);
	assert_int_equal(walker.flags, SAMPLE_FRAME_POINTERS);
}

/* Its functions keep it, and calls on the system's stack lead back to a goroutine's, anywhere. */
static void follows_the_frame_pointers_of_go_from_stack_to_stack(void **state)
{
	const struct row hand_written[] = { { 0, { CFA_SP(16), RETURNS_AT(-8) } },
					    { 0x100, { .cfa = UNWIND_CFA_NONE } } };

	(void)state;
	stand_at(GO_AT + 0x200);
	put_table(GO_TABLE, hand_written, ARRAY_LEN(hand_written), 0x101, UNWIND_TABLE_GO);
	registers.general[SP] = at(100);
	registers.general[FP] = at(110);
	stack[110] = at(10);
	stack[111] = GO_AT + 0x150;
	stack[11] = GO_AT + 0x250;
	run();
	ends(USER_END_COMPLETE, 3);
	assert_int_equal(walker.flags, SAMPLE_FRAME_POINTERS);

	registers.general[FP] = 0; /* also in a leaf */
	run();
	ends(USER_END_COMPLETE, 1);

	registers.general[FP] = 0x666000;
	run();
	ends(USER_END_READ_FAULT, 1);
}

static void asks_for_an_agent_walk_of_a_leaf_in_no_mapping(void **state)
{
	(void)state;
	stand_at(CODE_AT - 1);
	registers.general[FP] = at(10);
	stack[11] = IN_ROOT;
	run();
	reaches_the_root(2, SAMPLE_FRAME_POINTERS | SAMPLE_NEEDS_AGENT_WALK);

	run_of(NULL); /* and all of a process without a list */
	ends(USER_END_COMPLETE, 2);
	assert_int_equal(walker.flags, SAMPLE_FRAME_POINTERS | SAMPLE_NEEDS_AGENT_WALK);

	process.count = 0;
	run();
	ends(USER_END_NO_MAPPING, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(follows_the_frame_pointer_without_a_loaded_table),
		TEST(asks_for_an_agent_walk_of_an_awaited_table),
		TEST(follows_the_frame_pointer_without_a_row),
		TEST(follows_the_frame_pointer_in_generated_code),
		TEST(guesses_the_caller_of_generated_code_that_keeps_no_frame_pointer),
		TEST(prefers_a_return_address_below_a_frame_pointer_that_leads_to_file_code),
		TEST(finds_a_caller_in_the_program_far_from_generated_code),
		TEST(stops_guessing_after_8_kilobytes),
		TEST(knows_the_forms_of_a_call),
		TEST(finds_the_lowest_bit),
		TEST(reports_why_frame_pointers_led_to_no_code),
		TEST(a_frame_pointer_of_0_is_the_root_of_a_caller),
		TEST(follows_the_frame_pointers_of_go_from_stack_to_stack),
		TEST(asks_for_an_agent_walk_of_a_leaf_in_no_mapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
