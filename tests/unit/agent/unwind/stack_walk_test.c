// SPDX-License-Identifier: Apache-2.0
/*
 * Shipped stacks, written by hand.
 */
#include "support/stack_walk_stand.h"
#include "unwind/unwind_writer_internal.h"

/*
 * By hand: a program at 0x400000, whose functions are 0x100 bytes long and have frames of 16 bytes;
 * from 0x400400 on is its root, and 0x400500 has no row.
 */
enum { CODE = 0x400000, ROOT = 0x400, NO_ROW = 0x500, TABLELESS = 0x500000, GENERATED = 0x600000 };

static const struct unwind_rule call = { .cfa = UNWIND_CFA_REGISTER,
					 .cfa_register = RSP,
					 .cfa_offset = 16,
					 .return_address = UNWIND_SAVED_AT_CFA,
					 .return_address_offset = -8 };
static const struct unwind_rule root = { .cfa = UNWIND_CFA_REGISTER,
					 .cfa_register = RSP,
					 .cfa_offset = 8,
					 .return_address = UNWIND_SAVED_UNDEFINED };
static struct unwind_mapping by_hand[] = {
	{ .start = CODE, .end = CODE + 0x1000, .bias = CODE },
	{ .start = TABLELESS, .end = TABLELESS + 0x1000 },
	{ .start = GENERATED, .end = GENERATED + 0x1000, .flags = UNWIND_MAPPING_ANONYMOUS },
};

static void draw_table(struct arena *arena)
{
	struct unwind_rows rows;
	struct err err = { 0 };
	str written;

	unwind_rows_init(&rows, arena, 0);
	unwind_rows_begin(&rows, 0);
	unwind_rows_add(&rows, 0, &call);
	unwind_rows_add(&rows, ROOT, &root);
	unwind_rows_end(&rows, NO_ROW);
	assert_true(unwind_pages_write(&rows, arena, &written, &err));
	page_count = 1;
	by_hand[0].table = add_pages((const uint8_t *)written.ptr, written.len / UNWIND_PAGE_BYTES);
}

static const struct sample_record *walk_by_hand(const struct sample_record *record)
{
	return walk_with(record, by_hand, ARRAY_LEN(by_hand));
}

static void assert_user_frames(const struct sample_record *record, const uint64_t *frames,
			       size_t count)
{
	assert_int_equal(record->kernel_frames, 1);
	assert_int_equal(record->frames[0], 0xffffffff81000000);
	assert_int_equal(record->user_frames, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(record->frames[1 + i], frames[i]);
}

static void walks_by_the_rows_of_a_table_to_the_root(void **state)
{
	static const uint64_t stack[] = { 1, CODE + 0x120, 2, CODE + 0x410, 3, 4 };
	static const uint64_t found[] = { CODE + 0x20 };
	static const uint64_t frames[] = { CODE + 0x20, CODE + 0x120, CODE + 0x410 };
	AUTO_ARENA arena = { 0 };

	(void)state;
	set_up();
	draw_table(&arena);

	const struct sample_record *again =
		walk_by_hand(shipped(found, 1, USER_END_NO_TABLE, stack, sizeof(stack)));

	assert_user_frames(again, frames, ARRAY_LEN(frames));
	assert_int_equal(again->user_end, USER_END_COMPLETE);
	assert_int_equal(again->flags & SAMPLE_FRAME_POINTERS, 0);
	assert_int_equal(again->stack_bytes, sizeof(stack));
	assert_int_equal(walk.walked, 1);
	assert_int_equal(walk.missing, 0);
}

static void replaces_wrong_frames(void **state)
{
	static const uint64_t stack[] = { 1, CODE + 0x410, 2, 3 };
	static const uint64_t found[] = { CODE + 0x20, CODE + 0x333, CODE + 0x222, 0x1234 };
	static const uint64_t frames[] = { CODE + 0x20, CODE + 0x410 };
	AUTO_ARENA arena = { 0 };

	(void)state;
	set_up();
	draw_table(&arena);

	const struct sample_record *again =
		walk_by_hand(shipped(found, 4, USER_END_COMPLETE, stack, sizeof(stack)));

	assert_user_frames(again, frames, ARRAY_LEN(frames));
	assert_int_equal(again->user_end, USER_END_COMPLETE);
}

static void reports_how_the_walk_ended(void **state)
{
	static const struct {
		uint64_t back; /* where the leaf returns to */
		enum user_end end;
		uint16_t frames;
	} rows[] = {
		{ CODE + 0x410, USER_END_COMPLETE, 2 },
		{ CODE + 0x580, USER_END_NO_ROW, 2 },
		{ 0x1234, USER_END_NO_MAPPING, 1 },
		{ TABLELESS + 0x20, USER_END_NO_TABLE, 2 },
		{ CODE + 0x120, USER_END_READ_FAULT, 2 },
	};
	AUTO_ARENA arena = { 0 };

	(void)state;
	draw_table(&arena);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t stack[] = { 1, rows[i].back };
		uint64_t found = CODE + 0x20;

		set_up();

		const struct sample_record *again =
			walk_by_hand(shipped(&found, 1, USER_END_NO_TABLE, stack, sizeof(stack)));

		assert_ptr_not_equal(again, &sent.record);
		assert_int_equal(again->user_end, rows[i].end);
		assert_int_equal(again->user_frames, rows[i].frames);
	}
}

static void keeps_frames_found_by_frame_pointers_without_a_table(void **state)
{
	static const uint64_t stack[] = { 1, TABLELESS + 0x20 };
	static const uint64_t found[] = { CODE + 0x20, TABLELESS + 0x20, TABLELESS + 0x30 };
	AUTO_ARENA arena = { 0 };

	(void)state;
	set_up();
	draw_table(&arena);

	const struct sample_record *record =
		shipped(found, 3, USER_END_COMPLETE, stack, sizeof(stack));

	assert_ptr_equal(walk_by_hand(record), record);
	assert_int_equal(walk.kept, 1);
	assert_int_equal(walk.missing, TABLELESS + 0x20 - 1); /* its table is needed */
}

/* Pages below its bytes that were never written to were absent, and were not shipped. */
static void walks_a_stack_whose_first_pages_were_absent(void **state)
{
	static const uint64_t stack[] = { CODE + 0x120, 2, CODE + 0x410, 3 };
	static const uint64_t found[] = { CODE + 0x20 };
	static const uint64_t frames[] = { CODE + 0x20, CODE + 0x120, CODE + 0x410 };
	const struct sample_record *again;
	AUTO_ARENA arena = { 0 };

	(void)state;
	set_up();
	draw_table(&arena);
	shipped(found, 1, USER_END_NO_TABLE, stack, sizeof(stack));
	sent.record.flags |= 1 << SAMPLE_SKIPPED_AT;
	set_stack_pointer(STACK + SAMPLE_STACK_PIECE - 8);
	again = walk_by_hand(&sent.record);
	assert_user_frames(again, frames, ARRAY_LEN(frames));
	assert_int_equal(again->user_end, USER_END_COMPLETE);

	set_stack_pointer(STACK + SAMPLE_STACK_PIECE - 16); /* the caller is in what is absent */
	assert_int_equal(walk_by_hand(&sent.record)->user_end, USER_END_READ_FAULT);

	set_up(); /* and frame pointers had led around it */
	shipped(frames, 3, USER_END_COMPLETE, stack, sizeof(stack));
	sent.record.flags |= 1 << SAMPLE_SKIPPED_AT;
	set_stack_pointer(STACK + SAMPLE_STACK_PIECE - 16);
	assert_ptr_equal(walk_by_hand(&sent.record), &sent.record);
}

/* A guess needs the code there, which is not shipped. */
static void keeps_frames_guessed_in_generated_code(void **state)
{
	static const uint64_t stack[] = { 1, GENERATED + 0x20, 0x1234, CODE + 0x410 };
	static const uint64_t found[] = { CODE + 0x20, GENERATED + 0x20, CODE + 0x410 };
	static const uint64_t others[] = { CODE + 0x20, GENERATED + 0x40, CODE + 0x410 };
	const struct sample_record *record;
	AUTO_ARENA arena = { 0 };

	(void)state;
	set_up();
	draw_table(&arena);
	record = shipped(found, 3, USER_END_COMPLETE, stack, sizeof(stack));
	assert_ptr_equal(walk_by_hand(record), record);

	record = shipped(others, 3, USER_END_COMPLETE, stack, sizeof(stack));
	assert_int_equal(walk_by_hand(record)->user_frames, 2); /* that came there by mistake */
}

static void a_frame_pointer_past_words_of_generated_code_is_a_guess(void **state)
{
	static const uint64_t stack[] = { 1, GENERATED + 0x20, 8, CODE + 0x410, 8, CODE + 0x410 };
	uint64_t found = CODE + 0x20;
	AUTO_ARENA arena = { 0 };

	(void)state;
	for (uint64_t above = 0; above <= 16; above += 16) {
		const struct sample_record *record, *again;

		set_up();
		draw_table(&arena);
		record = shipped(&found, 1, USER_END_NO_TABLE, stack, sizeof(stack));
		set_register(RBP, STACK + 16 + above);
		again = walk_by_hand(record);
		assert_int_equal(again->user_end, USER_END_COMPLETE);
		assert_int_equal(again->flags & SAMPLE_GUESSED, above ? SAMPLE_GUESSED : 0);
	}
}

/* The stack begins in the middle of a page: three pieces are less than three pages. */
static void a_stack_longer_than_the_shipped_bytes_is_too_deep(void **state)
{
	enum { BYTES = SAMPLE_STACK_BYTES_MAX };
	static uint64_t stack[BYTES / 8];
	uint64_t found = CODE + 0x20;
	AUTO_ARENA arena = { 0 };

	(void)state;
	set_up();
	draw_table(&arena);
	for (size_t i = 1; i < ARRAY_LEN(stack); i += 2)
		stack[i] = CODE + 0x120;

	const struct sample_record *again =
		walk_by_hand(shipped(&found, 1, USER_END_NO_TABLE, stack, BYTES));

	assert_int_equal(again->user_end, USER_END_TOO_DEEP);
	assert_int_equal(again->user_frames, USER_FRAMES_MAX);

	sent.record.stack_bytes = 0;
	again = walk_by_hand(shipped(&found, 1, USER_END_NO_TABLE, stack, 4096));
	assert_int_equal(again->user_end, USER_END_READ_FAULT);
	assert_int_equal(again->user_frames, 4096 / 16 + 1);
}

RUN_TESTS(TEST(walks_by_the_rows_of_a_table_to_the_root), TEST(replaces_wrong_frames),
	  TEST(reports_how_the_walk_ended),
	  TEST(keeps_frames_found_by_frame_pointers_without_a_table),
	  TEST(walks_a_stack_whose_first_pages_were_absent),
	  TEST(keeps_frames_guessed_in_generated_code),
	  TEST(a_frame_pointer_past_words_of_generated_code_is_a_guess),
	  TEST(a_stack_longer_than_the_shipped_bytes_is_too_deep))
