// SPDX-License-Identifier: Apache-2.0
/*
 * The walk of user stacks as it runs in the kernel, by the rows of tables made here. Compiled
 * twice, for x86-64 and for arm64.
 */
#include "support/unwind_stand.h"

static void a_return_address_that_is_undefined_is_the_root(void **state)
{
	(void)state;
	stand_at(IN_ROOT);
	run();
	reaches_the_root(1, 0);
	assert_int_equal(reads, 0);
}

static void a_return_address_of_0_is_the_root(void **state)
{
	(void)state;
	stand_at(CODE_AT + PLAIN_AT);
	run();
	ends(USER_END_COMPLETE, 1);
}

static void finds_the_caller_by_the_stack_pointer(void **state)
{
	(void)state;
	stand_at(CODE_AT + PLAIN_AT);
	stack[1] = CODE_AT + PLAIN_AT + 0x20;
	stack[3] = IN_ROOT;
	run();
	reaches_the_root(3, 0);
	assert_int_equal(frames[1], CODE_AT + PLAIN_AT + 0x20);
	assert_int_equal(walker.now.general[SP], at(4));
}

static void finds_the_caller_by_the_frame_pointer_in_one_read(void **state)
{
	(void)state;
	stand_at(CODE_AT + POINTER_AT);
	registers.general[FP] = at(10);
	stack[10] = at(20);
	stack[11] = CODE_AT + POINTER_AT + 0x20;
	stack[20] = 77;
	stack[21] = IN_ROOT;
	run();
	reaches_the_root(3, 0);
	assert_int_equal(reads, 2);
	assert_int_equal(walker.now.general[FP], 77);
	assert_int_equal(walker.now.general[SP], at(22));
}

static void reads_a_frame_pointer_that_lies_apart(void **state)
{
	(void)state;
	stand_at(CODE_AT + APART_AT);
	stack[1] = at(20);
	stack[3] = CODE_AT + POINTER_AT + 1;
	stack[21] = IN_ROOT;
	run();
	reaches_the_root(3, 0);
}

/* After its pop: the row still describes its slot, which a shipped stack does not contain. */
static void reads_a_popped_frame_pointer_from_its_register(void **state)
{
	static const struct row popped[] = { { 0, { CFA_SP(8), RETURNS_AT(-8), KEEPS_AT(-16) } },
					     { POINTER_AT,
					       { CFA_FP(16), RETURNS_AT(-8), KEEPS_AT(-16) } },
					     { ROOT_AT, { CFA_SP(8), ROOT } } };

	(void)state;
	set_up(popped, ARRAY_LEN(popped));
	registers.general[FP] = at(20);
	stack[0] = CODE_AT + POINTER_AT + 1;
	stack[21] = IN_ROOT;
	run();
	reaches_the_root(3, 0);

	/* a leaf may keep it below its stack, and have something else in the register */
	registers.general[SP] = at(3);
	registers.general[FP] = 1;
	stack[2] = at(20);
	stack[3] = CODE_AT + POINTER_AT + 1;
	run();
	reaches_the_root(3, 0);
}

static void finds_the_frame_of_a_function_that_realigned_its_stack(void **state)
{
	(void)state;
	stand_at(CODE_AT + REALIGNED_AT);
	registers.general[FP] = at(10);
	stack[9] = at(30); /* the address of the frame - 24 */
	stack[10] = at(50);
	stack[32] = CODE_AT + POINTER_AT + 1;
	stack[51] = IN_ROOT;
	run();
	reaches_the_root(3, 0);
}

static void reads_a_return_address_by_the_frame_pointer(void **state)
{
	(void)state;
	stand_at(CODE_AT + BY_POINTER_AT);
	registers.general[FP] = at(10);
	stack[11] = IN_ROOT;
	run();
	reaches_the_root(2, 0);
}

static void has_all_registers_of_a_leaf(void **state)
{
	(void)state;
	stand_at(CODE_AT + OTHER_BASE_AT);
	registers.general[OTHER_REGISTER] = at(10);
	stack[10] = IN_ROOT;
	run();
	reaches_the_root(2, 0);

	stand_at(CODE_AT + IN_REGISTER_AT);
	registers.general[OTHER_REGISTER] = at(10);
	stack[1] = CODE_AT + POINTER_AT + 1;
	stack[11] = IN_ROOT;
	run();
	reaches_the_root(3, 0);
}

static void does_not_use_a_leafs_registers_for_its_callers(void **state)
{
	(void)state;
	stand_at(CODE_AT + PLAIN_AT);
	registers.general[OTHER_REGISTER] = at(10);
	stack[1] = CODE_AT + OTHER_BASE_AT + 1;
	stack[10] = IN_ROOT;
	run();
	ends(USER_END_UNSUPPORTED, 2);

	/* a frame pointer kept in such a register is lost, which matters only to code that needs it
	 */
	stand_at(CODE_AT + PLAIN_AT);
	stack[1] = CODE_AT + IN_REGISTER_AT + 1;
	stack[3] = IN_ROOT;
	run();
	reaches_the_root(3, 0);

	stand_at(CODE_AT + LOST_POINTER_AT);
	registers.general[FP] = at(10);
	stack[1] = CODE_AT + POINTER_AT + 1;
	stack[11] = IN_ROOT;
	run();
	REASON_MOVED("agent.user_unsupported", walker.end, USER_END_UNSUPPORTED);
}

static void looks_up_a_return_address_one_before_it(void **state)
{
	(void)state;
	stand_at(CODE_AT + PLAIN_AT);
	stack[1] = CODE_AT + POINTER_AT; /* a call that does not return ended the function */
	stack[3] = IN_ROOT;
	run();
	reaches_the_root(3, 0);
}

static void looks_up_a_leaf_at_its_exact_address(void **state)
{
	(void)state;
	stand_at(CODE_AT + POINTER_AT); /* its first instruction */
	registers.general[FP] = at(10);
	stack[11] = IN_ROOT;
	run();
	reaches_the_root(2, 0);
}

/* The kernel's frame of a signal that came at pc. */
static void put_signal_frame(size_t word, uint64_t pc, uint64_t sp, uint64_t fp, uint64_t other)
{
	uint64_t *saved = &stack[word + UNWIND_SIGNAL_AT / 8];

#if defined(__TARGET_ARCH_arm64)
	saved[FP] = fp;
	saved[OTHER_REGISTER] = other;
	saved[31] = sp;
	saved[32] = pc;
#else
	saved[2] = other; /* r10 */
	saved[10] = fp;
	saved[15] = sp;
	saved[16] = pc;
#endif
}

static void continues_after_a_signal_frame_with_all_registers(void **state)
{
	const uint64_t interrupted[] = { 300, 40 }; /* also on a stack that lies lower */

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(interrupted); i++) {
		stand_at(CODE_AT + PLAIN_AT);
		registers.general[SP] = at(100);
		stack[101] = CODE_AT + SIGNAL_AT + 1;
		put_signal_frame(102, CODE_AT + OTHER_BASE_AT, at(interrupted[i]), 1,
				 at(interrupted[i] + 2));
		stack[interrupted[i] + 2] = IN_ROOT;
		run();
		reaches_the_root(4, 0);
		/* one past each, as return addresses are */
		assert_int_equal(frames[1], CODE_AT + SIGNAL_AT + 2);
		assert_int_equal(frames[2], CODE_AT + OTHER_BASE_AT + 1);
		assert_int_equal(reads, 3);
	}
}

static void a_leaf_may_be_the_end_of_a_signal_handler(void **state)
{
	(void)state;
	stand_at(CODE_AT + SIGNAL_AT);
	put_signal_frame(0, IN_ROOT, at(50), 0, 0);
	run();
	ends(USER_END_COMPLETE, 2);
	assert_int_equal(frames[0], CODE_AT + SIGNAL_AT);
	assert_int_equal(frames[1], IN_ROOT + 1);
}

static void reports_an_unsupported_rule(void **state)
{
	const uint64_t places[] = { UNKNOWN_AT, NO_RETURN_AT };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		stand_at(CODE_AT + places[i]);
		run();
		ends(USER_END_UNSUPPORTED, 1);
	}
}

/* vfork() of glibc: both parent and child return from that place on the stack. */
static void a_return_address_in_a_register_needs_no_room_on_the_stack(void **state)
{
	(void)state;
	stand_at(CODE_AT + POPPED_AT);
	registers.general[OTHER_REGISTER] = CODE_AT + PLAIN_AT + 1;
	stack[1] = IN_ROOT;
	run();
	reaches_the_root(3, 0);

	stand_at(CODE_AT + PLAIN_AT); /* a caller's register is not known */
	stack[1] = CODE_AT + POPPED_AT + 1;
	run();
	assert_int_not_equal(walker.end, USER_END_COMPLETE);
	assert_int_equal(frame_count, 2);
}

static void reports_a_frame_that_does_not_grow(void **state)
{
	(void)state;
	stand_at(CODE_AT + STUCK_AT);
	run();
	ends(USER_END_BAD_FRAME, 1);
	REASON_MOVED("agent.user_bad_frame", walker.end, USER_END_BAD_FRAME);
}

static void ends_at_the_first_read_that_fails(void **state)
{
	const uint64_t places[] = { PLAIN_AT, APART_AT, SIGNAL_AT };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		stand_at(CODE_AT + places[i]);
		registers.general[SP] = at(STACK_WORDS);
		run();
		ends(USER_END_READ_FAULT, 1);
		assert_int_equal(reads, 1);
	}
	stand_at(CODE_AT + REALIGNED_AT);
	registers.general[FP] = 0x666000;
	run();
	ends(USER_END_READ_FAULT, 1);
	REASON_MOVED("agent.user_read_fault", walker.end, USER_END_READ_FAULT);
}

static void drops_a_return_address_in_no_mapping(void **state)
{
	(void)state;
	stand_at(CODE_AT + PLAIN_AT);
	stack[1] = CODE_AT + CODE_BYTES + 1;
	run();
	ends(USER_END_NO_MAPPING, 1);
	assert_int_equal(walker.flags, 0); /* its leaf was known: no agent walk */
	REASON_MOVED("agent.user_no_mapping", walker.end, USER_END_NO_MAPPING);
}

#if defined(__TARGET_ARCH_arm64)

static void returns_to_the_link_register_of_a_leaf_without_a_frame(void **state)
{
	static const struct row leaf[] = { { 0, { CFA_SP(0) } }, { ROOT_AT, { CFA_SP(0), ROOT } } };

	(void)state;
	set_up(leaf, ARRAY_LEN(leaf));
	registers.general[30] = IN_ROOT | 0xab02ULL << 48; /* signed */
	run();
	reaches_the_root(2, 0);

	/* a caller's is unknown: it would be its own caller for ever */
	set_up(leaf, ARRAY_LEN(leaf));
	registers.general[30] = CODE_AT + 4;
	run();
	ends(USER_END_BAD_FRAME, 2);
}

#else

static void supports_both_halves_of_a_plt_entry(void **state)
{
	(void)state;
	stand_at(CODE_AT + PLT_AT + 0x4a);
	stack[0] = IN_ROOT;
	run();
	reaches_the_root(2, 0);

	stand_at(CODE_AT + PLT_AT + 0x4b); /* the number is pushed */
	stack[0] = 5;
	stack[1] = IN_ROOT;
	run();
	reaches_the_root(2, 0);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_return_address_that_is_undefined_is_the_root),
		TEST(a_return_address_of_0_is_the_root),
		TEST(finds_the_caller_by_the_stack_pointer),
		TEST(finds_the_caller_by_the_frame_pointer_in_one_read),
		TEST(reads_a_frame_pointer_that_lies_apart),
		TEST(reads_a_popped_frame_pointer_from_its_register),
		TEST(finds_the_frame_of_a_function_that_realigned_its_stack),
		TEST(reads_a_return_address_by_the_frame_pointer),
		TEST(has_all_registers_of_a_leaf),
		TEST(does_not_use_a_leafs_registers_for_its_callers),
		TEST(looks_up_a_return_address_one_before_it),
		TEST(looks_up_a_leaf_at_its_exact_address),
		TEST(continues_after_a_signal_frame_with_all_registers),
		TEST(a_leaf_may_be_the_end_of_a_signal_handler),
		TEST(reports_an_unsupported_rule),
		TEST(a_return_address_in_a_register_needs_no_room_on_the_stack),
		TEST(reports_a_frame_that_does_not_grow),
		TEST(ends_at_the_first_read_that_fails),
		TEST(drops_a_return_address_in_no_mapping),
#if defined(__TARGET_ARCH_arm64)
		TEST(returns_to_the_link_register_of_a_leaf_without_a_frame),
#else
		TEST(supports_both_halves_of_a_plt_entry),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
