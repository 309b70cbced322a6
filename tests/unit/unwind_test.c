// SPDX-License-Identifier: Apache-2.0
/*
 * The walk of user stacks as it runs in the kernel, on stacks and tables made here. Compiled twice,
 * for x86-64 and for arm64.
 */
#include "object/unwind_file.h"
#include "object/unwind_writer.h"
#include "test.h"

struct unwind_seen;
static struct unwind_seen *seen_at(uint64_t number);

#define UNWIND_SEEN_AT seen_at
#include "unwind.h"

#include <stdlib.h>

enum {
	STACK_AT = 0x7ff0000,
	STACK_WORDS = 512,
	CODE_AT = 0x500000, /* in memory; of which 0x100000 is the bias */
	BIAS = 0x100000,
	CODE_BYTES = 0x1000,
	OTHER_AT = 0x600000, /* a mapping whose table is not there */
	JIT_AT = 0x700000,
	GO_AT = 0x800000,
	TABLE = 70, /* numbers of pages, not in the first segment */
	GO_TABLE = 90,
	LIST = 100,
	PAGES = 512,
	SP = UNWIND_STACK_POINTER,
	FP = UNWIND_FRAME_POINTER,
	OTHER_REGISTER = 10,
	FRAMES_MAX = 16,
};

struct row {
	uint32_t address;
	struct unwind_rule rule;
};

static uint64_t stack[STACK_WORDS];
static uint8_t pages[PAGES][UNWIND_PAGE_BYTES] __attribute__((aligned(8)));
static bool has_page[PAGES];
static struct unwind_process process = { .place = LIST * UNWIND_PAGE_BYTES };
static struct sample_registers registers;
static uint64_t frames[FRAMES_MAX];
static uint32_t frame_count, reads;
static struct unwind walk;
static struct unwind_seen seen[UNWIND_SEEN];
static uint64_t called_from; /* the one place in memory where a call ends */

#if defined(__TARGET_ARCH_arm64)
#define CALL "\0\0\0\0\x40\x01\x3f\xd6" /* blr x10 */
#else
#define CALL "\0\0\0\0\0\x41\xff\xd2" /* call *%r10 */
#endif

static bool unwind_read_user(struct unwind *of, void *to, uint32_t bytes, uint64_t from)
{
	assert_ptr_equal(of, &walk);
	reads++;
	if (bytes == sizeof(uint64_t) && from + bytes == called_from) {
		memcpy(to, CALL, bytes);
		return true;
	}
	if (from < STACK_AT || from > STACK_AT + sizeof(stack) ||
	    STACK_AT + sizeof(stack) - from < bytes)
		return false;
	memcpy(to, (char *)stack + (from - STACK_AT), bytes);
	return true;
}

static struct unwind_seen *seen_at(uint64_t number)
{
	assert_in_range(number, 0, UNWIND_SEEN - 1);
	return &seen[number];
}

static const uint8_t *unwind_page(struct unwind *of, uint64_t number)
{
	assert_ptr_equal(of, &walk);
	return number < PAGES && has_page[number] ? pages[number] : NULL;
}

static void put_pages(uint32_t first, str bytes)
{
	assert_true(first + bytes.len / UNWIND_PAGE_BYTES <= PAGES);
	memcpy(pages[first], bytes.ptr, bytes.len);
	for (size_t i = 0; i < bytes.len / UNWIND_PAGE_BYTES; i++)
		has_page[first + i] = true;
}

/* A table of these rows, the last of which ends at `end`. */
static void put_table(uint32_t first, const struct row *rows, size_t count, uint32_t end,
		      uint32_t flags)
{
	AUTO_ARENA arena = { 0 };
	struct unwind_rows made;
	struct err err;
	str bytes;

	unwind_rows_init(&made, &arena, CODE_AT - BIAS);
	made.flags = flags;
	unwind_rows_begin(&made, rows[0].address);
	for (size_t i = 0; i < count; i++)
		unwind_rows_add(&made, rows[i].address, &rows[i].rule);
	unwind_rows_end(&made, end);
	assert_true(unwind_pages_write(&made, &arena, &bytes, &err));
	put_pages(first, bytes);
}

static void put_list(const struct unwind_mapping *mappings, size_t count)
{
	memcpy(pages[LIST], mappings, count * sizeof(*mappings));
	for (size_t i = 0; i * UNWIND_PAGE_BYTES < count * sizeof(*mappings); i++)
		has_page[LIST + i] = true;
	process.count = (uint32_t)count;
}

/* A process of a program with a table of its own, and what else there is. */
static void set_up(const struct row *rows, size_t count)
{
	const struct unwind_mapping list[] = {
		{ CODE_AT, CODE_AT + CODE_BYTES, BIAS, TABLE, 0 },
		{ OTHER_AT, OTHER_AT + CODE_BYTES, 0, 0, 0 },
		{ JIT_AT, JIT_AT + CODE_BYTES, 0, 0, UNWIND_MAPPING_ANONYMOUS },
		{ GO_AT, GO_AT + CODE_BYTES, GO_AT - (CODE_AT - BIAS), GO_TABLE, 0 },
	};

	called_from = 0;
	memset(stack, 0, sizeof(stack));
	memset(has_page, 0, sizeof(has_page));
	memset(&walk, 0xee, sizeof(walk));
	memset(seen, 0, sizeof(seen));
	registers = (struct sample_registers){ .pc = CODE_AT };
	registers.general[SP] = STACK_AT;
	put_list(list, ARRAY_LEN(list));
	put_table(TABLE, rows, count, CODE_BYTES, 0);
}

static void run_of(const struct unwind_process *of)
{
	frame_count = reads = 0;
	walk.now = registers;
	unwind_begin(&walk, of);
	while (walk.end == USER_END_NONE && frame_count < FRAMES_MAX) {
		unwind_step(&walk);
		frames[frame_count++] = walk.shown;
	}
}

static void run(void)
{
	run_of(&process);
}

/* Words above the stack pointer of the leaf. */
static uint64_t at(size_t word)
{
	return STACK_AT + word * sizeof(uint64_t);
}

#define CFA_SP(offset)     .cfa = UNWIND_CFA_REGISTER, .cfa_register = SP, .cfa_offset = (offset)
#define CFA_FP(offset)     .cfa = UNWIND_CFA_REGISTER, .cfa_register = FP, .cfa_offset = (offset)
#define RETURNS_AT(offset) .return_address = UNWIND_SAVED_AT_CFA, .return_address_offset = (offset)
#define KEEPS_AT(offset)   .frame_pointer = UNWIND_SAVED_AT_CFA, .frame_pointer_offset = (offset)
#define ROOT               .return_address = UNWIND_SAVED_UNDEFINED

/*
 * The program: a row for each way to find the caller, 0x100 bytes each. Its functions are called
 * from ROOT_AT + 0x10.
 */
enum {
	PLAIN_AT = 0x000,
	POINTER_AT = 0x100,
	APART_AT = 0x200,
	REALIGNED_AT = 0x300,
	OTHER_BASE_AT = 0x400,
	IN_REGISTER_AT = 0x500,
	BY_POINTER_AT = 0x600,
	SIGNAL_AT = 0x700,
	LOST_POINTER_AT = 0x800,
	STUCK_AT = 0x900,
	UNKNOWN_AT = 0xa00,
	NO_RETURN_AT = 0xb00,
	PLT_AT = 0xc00,
	POPPED_AT = 0xd00,
	NOTHING_AT = 0xe00,
	ROOT_AT = 0xf00,
};

static const struct row program[] = {
	{ PLAIN_AT, { CFA_SP(16), RETURNS_AT(-8) } },
	{ POINTER_AT, { CFA_FP(16), RETURNS_AT(-8), KEEPS_AT(-16) } },
	{ APART_AT, { CFA_SP(32), RETURNS_AT(-8), KEEPS_AT(-24) } },
	{ REALIGNED_AT,
	  { .cfa = UNWIND_CFA_DEREF,
	    .cfa_register = FP,
	    .cfa_offset = -8,
	    .cfa_second = 24,
	    RETURNS_AT(-8),
	    .frame_pointer = UNWIND_SAVED_AT_FRAME_POINTER,
	    .frame_pointer_offset = 0 } },
	{ OTHER_BASE_AT,
	  { .cfa = UNWIND_CFA_REGISTER,
	    .cfa_register = OTHER_REGISTER,
	    .cfa_offset = 8,
	    RETURNS_AT(-8) } },
	{ IN_REGISTER_AT,
	  { CFA_SP(16), RETURNS_AT(-8), .frame_pointer = UNWIND_SAVED_REGISTER,
	    .frame_pointer_offset = OTHER_REGISTER } },
	{ BY_POINTER_AT,
	  { CFA_SP(16), .return_address = UNWIND_SAVED_AT_FRAME_POINTER,
	    .return_address_offset = 8 } },
	{ SIGNAL_AT, { .cfa = UNWIND_CFA_SIGNAL } },
	{ LOST_POINTER_AT,
	  { CFA_SP(16), RETURNS_AT(-8), .frame_pointer = UNWIND_SAVED_UNDEFINED } },
	{ STUCK_AT, { CFA_SP(-16), RETURNS_AT(-8) } },
	{ UNKNOWN_AT, { .cfa = UNWIND_CFA_UNSUPPORTED } },
	{ NO_RETURN_AT, { CFA_SP(16), .return_address = UNWIND_SAVED_UNSUPPORTED } },
	{ PLT_AT, { .cfa = UNWIND_CFA_PLT, .cfa_offset = 11, RETURNS_AT(-8) } },
	{ POPPED_AT,
	  { CFA_SP(0), .return_address = UNWIND_SAVED_REGISTER,
	    .return_address_offset = OTHER_REGISTER } },
	{ NOTHING_AT, { .cfa = UNWIND_CFA_NONE } },
	{ ROOT_AT, { CFA_SP(8), ROOT } },
};

enum { IN_ROOT = CODE_AT + ROOT_AT + 0x10 };

static void stand_at(uint64_t pc)
{
	set_up(program, ARRAY_LEN(program));
	registers.pc = pc;
}

static void reaches_the_root(uint32_t count, uint32_t flags)
{
	assert_int_equal(walk.end, USER_END_COMPLETE);
	assert_int_equal(frame_count, count);
	assert_int_equal(frames[0], registers.pc);
	assert_int_equal(frames[count - 1], IN_ROOT);
	assert_int_equal(walk.flags, flags);
}

static void ends(enum user_end end, uint32_t count)
{
	assert_int_equal(walk.end, end);
	assert_int_equal(frame_count, count);
}

static void remembers_rules_while_tables_are_as_they_were(void **state)
{
	set_up(program, ARRAY_LEN(program));
	(void)state;
	stack[1] = CODE_AT + ROOT_AT + 0x10;
	run();
	assert_int_equal(frame_count, 2);
	has_page[TABLE] = false;
	run();
	assert_int_equal(frame_count, 2);
	assert_int_equal(walk.end, USER_END_COMPLETE);

	walk.generation.tables++;
	run();
	assert_int_equal(walk.end, USER_END_NO_TABLE);
}

static void remembers_no_rule_of_another_table_at_the_same_address(void **state)
{
	struct unwind_mapping *list = (void *)pages[LIST];

	set_up(program, ARRAY_LEN(program));
	(void)state;
	stack[1] = CODE_AT + ROOT_AT + 0x10;
	run();
	list[0].table = GO_TABLE + 5; /* which is not there */
	walk.generation.lists++;
	run();

	assert_int_equal(walk.end, USER_END_NO_TABLE);
}

static void remembers_a_mapping_while_its_list_is_as_it_was(void **state)
{
	set_up(program, ARRAY_LEN(program));
	(void)state;
	stack[1] = CODE_AT + ROOT_AT + 0x10;
	run();
	has_page[LIST] = false;
	run();
	assert_int_equal(walk.end, USER_END_COMPLETE);

	walk.generation.lists++;
	run();
	assert_int_not_equal(walk.end, USER_END_COMPLETE);
	assert_true(walk.flags & SAMPLE_STACK_TRAVELS);
}

static void remembers_no_mapping_of_another_list(void **state)
{
	struct unwind_process other = process;

	set_up(program, ARRAY_LEN(program));
	(void)state;
	stack[1] = CODE_AT + ROOT_AT + 0x10;
	run();
	other.place += UNWIND_PAGE_BYTES; /* where no page is */
	run_of(&other);
	assert_true(walk.flags & SAMPLE_STACK_TRAVELS);
	run_of(NULL);
	assert_true(walk.flags & SAMPLE_STACK_TRAVELS);
}

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
	assert_int_equal(walk.now.general[SP], at(4));
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
	assert_int_equal(walk.now.general[FP], 77);
	assert_int_equal(walk.now.general[SP], at(22));
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

/* After its pop: the row still says where it was, which a stack that travelled does not hold. */
static void takes_a_frame_pointer_that_is_popped_from_its_register(void **state)
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
	stack[9] = at(30); /* where it says that the frame is, less 24 */
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

static void does_not_take_a_leafs_registers_for_its_callers(void **state)
{
	(void)state;
	stand_at(CODE_AT + PLAIN_AT);
	registers.general[OTHER_REGISTER] = at(10);
	stack[1] = CODE_AT + OTHER_BASE_AT + 1;
	stack[10] = IN_ROOT;
	run();
	ends(USER_END_UNSUPPORTED, 2);

	/* a frame pointer kept in such a register is lost, and matters to who needs it alone */
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
	REASON_MOVED("agent.user_unsupported", walk.end, USER_END_UNSUPPORTED);
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

static void looks_up_a_leaf_where_it_stands(void **state)
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

static void goes_on_behind_a_signal_with_all_registers(void **state)
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

static void goes_by_the_frame_pointer_where_the_table_is_not_loaded(void **state)
{
	(void)state;
	stand_at(OTHER_AT);
	registers.general[FP] = at(10);
	stack[10] = at(40);
	stack[11] = CODE_AT + APART_AT + 1; /* whose table is: from here on by rows */
	stack[12 + 1] = at(50);
	stack[12 + 3] = IN_ROOT;
	run();
	reaches_the_root(3, SAMPLE_FRAME_POINTERS);
	assert_int_equal(walk.now.general[FP], at(50));

	stand_at(CODE_AT + PLAIN_AT);
	has_page[TABLE] = false; /* it was taken away meanwhile */
	registers.general[FP] = at(10);
	stack[11] = OTHER_AT + 1;
	run();
	ends(USER_END_COMPLETE, 2);
	assert_int_equal(walk.flags, SAMPLE_FRAME_POINTERS);
}

static void lets_travel_what_will_be_known_better(void **state)
{
	const struct unwind_mapping awaited = { OTHER_AT, OTHER_AT + CODE_BYTES, 0, 0,
						UNWIND_MAPPING_AWAITED };

	(void)state;
	stand_at(OTHER_AT);
	registers.general[FP] = at(10);
	memcpy(pages[LIST] + sizeof(awaited), &awaited, sizeof(awaited)); /* its table is built */
	stack[11] = IN_ROOT;
	run();
	reaches_the_root(2, SAMPLE_FRAME_POINTERS | SAMPLE_STACK_TRAVELS);

	stand_at(CODE_AT + PLAIN_AT);
	stack[1] = stack[3] = IN_ROOT;
	process.flags = UNWIND_PROCESS_RESTLESS; /* its mappings may be others by now */
	run();
	process.flags = 0;
	assert_int_equal(walk.flags & SAMPLE_STACK_TRAVELS, SAMPLE_STACK_TRAVELS);
}

static void goes_by_the_frame_pointer_where_there_is_no_row(void **state)
{
	(void)state;
	stand_at(CODE_AT + NOTHING_AT);
	registers.general[FP] = at(10);
	stack[11] = IN_ROOT;
	run();
	reaches_the_root(2, SAMPLE_FRAME_POINTERS);
}

static void goes_by_the_frame_pointer_in_generated_code(void **state)
{
	(void)state;
	stand_at(JIT_AT);
	registers.general[FP] = at(10);
	stack[10] = at(20);
	stack[11] = JIT_AT + 0x20;
	stack[21] = IN_ROOT;
	called_from = IN_ROOT; /* the outermost frame pointer leads nowhere: it shows by this */
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
	reaches_the_root(3, SAMPLE_GUESSED); /* nothing says that 0x500 is returned to */

	stack[12] = at(300);
	run();
	reaches_the_root(4, SAMPLE_GUESSED | SAMPLE_FRAME_POINTERS);
	assert_int_equal(frames[1], JIT_AT + 0x400);
	assert_int_equal(frames[2], JIT_AT + 0x500);
	assert_int_equal(walk.now.general[SP], at(15 + 200));
	assert_int_equal(walk.now.general[FP], 77);
}

static void gives_up_guessing_after_8_kilobytes(void **state)
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

static void says_why_frame_pointers_led_nowhere(void **state)
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
		assert_int_equal(walk.flags & ~(uint32_t)SAMPLE_STACK_TRAVELS,
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
	assert_int_equal(walk.flags, SAMPLE_FRAME_POINTERS);
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
	assert_int_equal(walk.flags, SAMPLE_FRAME_POINTERS);

	registers.general[FP] = 0; /* also in a leaf */
	run();
	ends(USER_END_COMPLETE, 1);

	registers.general[FP] = 0x666000;
	run();
	ends(USER_END_READ_FAULT, 1);
}

static void says_that_a_rule_cannot_be_read(void **state)
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
	assert_int_not_equal(walk.end, USER_END_COMPLETE);
	assert_int_equal(frame_count, 2);
}

static void says_that_a_frame_does_not_grow(void **state)
{
	(void)state;
	stand_at(CODE_AT + STUCK_AT);
	run();
	ends(USER_END_BAD_FRAME, 1);
	REASON_MOVED("agent.user_bad_frame", walk.end, USER_END_BAD_FRAME);
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
	REASON_MOVED("agent.user_read_fault", walk.end, USER_END_READ_FAULT);
}

static void leaves_out_a_return_address_in_no_mapping(void **state)
{
	(void)state;
	stand_at(CODE_AT + PLAIN_AT);
	stack[1] = CODE_AT + CODE_BYTES + 1;
	run();
	ends(USER_END_NO_MAPPING, 1);
	assert_int_equal(walk.flags, 0); /* its leaf was known: it does not travel */
	REASON_MOVED("agent.user_no_mapping", walk.end, USER_END_NO_MAPPING);
}

static void lets_travel_what_begins_in_no_mapping(void **state)
{
	(void)state;
	stand_at(CODE_AT - 1);
	registers.general[FP] = at(10);
	stack[11] = IN_ROOT;
	run();
	reaches_the_root(2, SAMPLE_FRAME_POINTERS | SAMPLE_STACK_TRAVELS);

	run_of(NULL); /* and all of a process without a list */
	ends(USER_END_COMPLETE, 2);
	assert_int_equal(walk.flags, SAMPLE_FRAME_POINTERS | SAMPLE_STACK_TRAVELS);

	process.count = 0;
	run();
	ends(USER_END_NO_MAPPING, 1);
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

	/* a caller's is gone: it would be its own caller for ever */
	set_up(leaf, ARRAY_LEN(leaf));
	registers.general[30] = CODE_AT + 4;
	run();
	ends(USER_END_BAD_FRAME, 2);
}

#else

static void knows_both_halves_of_a_plt_entry(void **state)
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
		TEST(remembers_rules_while_tables_are_as_they_were),
		TEST(remembers_no_rule_of_another_table_at_the_same_address),
		TEST(remembers_a_mapping_while_its_list_is_as_it_was),
		TEST(remembers_no_mapping_of_another_list),
		TEST(a_return_address_that_is_undefined_is_the_root),
		TEST(a_return_address_of_0_is_the_root),
		TEST(finds_the_caller_by_the_stack_pointer),
		TEST(finds_the_caller_by_the_frame_pointer_in_one_read),
		TEST(reads_a_frame_pointer_that_lies_apart),
		TEST(takes_a_frame_pointer_that_is_popped_from_its_register),
		TEST(finds_the_frame_of_a_function_that_realigned_its_stack),
		TEST(reads_a_return_address_by_the_frame_pointer),
		TEST(has_all_registers_of_a_leaf),
		TEST(does_not_take_a_leafs_registers_for_its_callers),
		TEST(looks_up_a_return_address_one_before_it),
		TEST(looks_up_a_leaf_where_it_stands),
		TEST(goes_on_behind_a_signal_with_all_registers),
		TEST(a_leaf_may_be_the_end_of_a_signal_handler),
		TEST(goes_by_the_frame_pointer_where_the_table_is_not_loaded),
		TEST(lets_travel_what_will_be_known_better),
		TEST(goes_by_the_frame_pointer_where_there_is_no_row),
		TEST(goes_by_the_frame_pointer_in_generated_code),
		TEST(guesses_the_caller_of_generated_code_that_keeps_no_frame_pointer),
		TEST(gives_up_guessing_after_8_kilobytes),
		TEST(knows_the_forms_of_a_call),
		TEST(finds_the_lowest_bit),
		TEST(says_why_frame_pointers_led_nowhere),
		TEST(a_frame_pointer_of_0_is_the_root_of_a_caller),
		TEST(follows_the_frame_pointers_of_go_from_stack_to_stack),
		TEST(says_that_a_rule_cannot_be_read),
		TEST(a_return_address_in_a_register_needs_no_room_on_the_stack),
		TEST(says_that_a_frame_does_not_grow),
		TEST(ends_at_the_first_read_that_fails),
		TEST(leaves_out_a_return_address_in_no_mapping),
		TEST(lets_travel_what_begins_in_no_mapping),
#if defined(__TARGET_ARCH_arm64)
		TEST(returns_to_the_link_register_of_a_leaf_without_a_frame),
#else
		TEST(knows_both_halves_of_a_plt_entry),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
