// SPDX-License-Identifier: Apache-2.0
#include "support/cfi_maker.h"
#include "support/test.h"
#include "unwind/unwind_cfi_internal.h"

enum { MEMORY = 1 << 26, AT = CODE_AT };

static const struct unwind_rule none = { .cfa = UNWIND_CFA_NONE };
static const struct unwind_rule unsupported = { .cfa = UNWIND_CFA_UNSUPPORTED };
static const struct unwind_rule entered = {
	UNWIND_CFA_REGISTER, 7, 0, UNWIND_SAVED_AT_CFA, 8, 0, 0, -8
};

static struct unwind_rows rows_of(struct cfi_maker *maker)
{
	struct unwind_rows rows;
	struct err err = { 0 };

	if (!cfi_rows_of(buf_bytes(&maker->bytes), maker->is_eh, MEMORY, &maker->arena, &rows,
			 &err))
		fail_msg("%s", err.msg);
	return rows;
}

static struct unwind_rule rule_at(const struct unwind_rows *rows, uint64_t address)
{
	struct unwind_rule rule = none;

	for (size_t i = 0; i < rows->rows.len; i++)
		if (rows->base + rows->rows.items[i].address <= address)
			rule = rows->rules.items[rows->rows.items[i].rule];
	return address < rows->base + rows->end ? rule : none;
}

static void assert_rule(const struct unwind_rows *rows, uint64_t address, struct unwind_rule rule)
{
	struct unwind_rule found = rule_at(rows, address);

	assert_memory_equal(&found, &rule, sizeof(rule));
}

static void follows_pushes_and_the_frame_pointer(void **state)
{
	AUTO_CFI_MAKER *maker = cfi_maker_new(true);

	(void)state;
	cfi_usual_add(maker);
	/* push %rbp; mov %rsp, %rbp; ...; leave; ret */
	cfi_function_add(maker, AT, 32,
			 BYTES("\x41\x0e\x10\x86\x02\x43\x0d\x06\x5b\x0c\x07\x08\xc6"));

	struct unwind_rows rows = rows_of(maker);
	struct unwind_rule rule = entered;

	assert_int_equal(rows.rows.len, 4);
	assert_rule(&rows, AT, entered);
	rule.cfa_offset = 16;
	rule.frame_pointer = UNWIND_SAVED_AT_CFA;
	rule.frame_pointer_offset = -16;
	assert_rule(&rows, AT + 1, rule);
	rule.cfa_register = 6;
	assert_rule(&rows, AT + 4, rule);
	assert_rule(&rows, AT + 30, rule);
	assert_rule(&rows, AT + 31, entered);
	assert_rule(&rows, AT + 32, none);
}

/* The rule after these instructions, which follow the usual instructions of a CIE. */
static void produces_each_kind_of_rule(void **state)
{
	const struct unwind_rule cases[] = {
		{ UNWIND_CFA_PLT, 0, 0, UNWIND_SAVED_AT_CFA, 11, 0, 0, -8 },
		{ UNWIND_CFA_PLT, 0, 0, UNWIND_SAVED_AT_CFA, 10, 0, 0, -8 },
		{ UNWIND_CFA_DEREF, 7, 0, UNWIND_SAVED_AT_CFA, 40, 8, 0, -8 },
		{ UNWIND_CFA_DEREF, 6, UNWIND_SAVED_AT_FRAME_POINTER, UNWIND_SAVED_AT_CFA, -40, 0,
		  0, -8 },
		{ UNWIND_CFA_REGISTER, 7, UNWIND_SAVED_REGISTER, UNWIND_SAVED_AT_CFA, 8, 0, 9, -8 },
		{ UNWIND_CFA_REGISTER, 7, 0, UNWIND_SAVED_REGISTER, 8, 0, 0, 5 },
		{ UNWIND_CFA_REGISTER, 7, 0, UNWIND_SAVED_UNDEFINED, 8, 0, 0, 0 },
		{ UNWIND_CFA_REGISTER, 7, UNWIND_SAVED_AT_CFA, UNWIND_SAVED_AT_CFA, 8, 0, -24, -8 },
		{ UNWIND_CFA_REGISTER, 8, UNWIND_SAVED_REGISTER, UNWIND_SAVED_REGISTER, 0, 0, 9,
		  1 },
		{ UNWIND_CFA_REGISTER, 10, 0, UNWIND_SAVED_AT_CFA, 0, 0, 0, -8 },
		{ UNWIND_CFA_REGISTER, 7, UNWIND_SAVED_UNSUPPORTED, UNWIND_SAVED_AT_CFA, 8, 0, 0,
		  -8 },
		{ UNWIND_CFA_REGISTER, 7, UNWIND_SAVED_AT_CFA, UNWIND_SAVED_AT_CFA, 8, 0, 16, -8 },
		{ UNWIND_CFA_REGISTER, 7, 0, UNWIND_SAVED_AT_CFA, 1 << 20, 0, 0, -8 },
	};
	const str instructions[] = {
		BYTES("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"),
		BYTES("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3a\x2a\x33\x24\x22"),
		BYTES("\x0f\x05\x77\x28\x06\x23\x08"),             /* *(rsp + 40) + 8 */
		BYTES("\x10\x06\x02\x76\x00\x0f\x03\x76\x58\x06"), /* a realigned stack */
		BYTES("\x09\x06\x09"),                             /* rbp in r9 */
		BYTES("\x09\x10\x05"),                             /* the return address in rdi */
		BYTES("\x07\x10"),                                 /* no caller */
		BYTES("\x10\x06\x02\x77\x70"),                     /* rbp at rsp - 16: CFA - 24 */
		BYTES("\x09\x07\x08\x09\x06\x09\x09\x10\x01"), /* longjmp: rsp, rbp, rip elsewhere
								*/
		BYTES("\x0c\x0a\x00"),                         /* r10 */
		BYTES("\x16\x06\x02\x76\x08"),                 /* rbp is rbp + 8 */
		BYTES("\x2f\x06\x02"),                         /* rbp at CFA + 16 */
		BYTES("\x0e\x80\x80\xc0\x00"),                 /* a large frame */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_CFI_MAKER *maker = cfi_maker_new(true);

		cfi_usual_add(maker);
		cfi_function_add(maker, AT, 32, instructions[i]);

		struct unwind_rows rows = rows_of(maker);

		assert_rule(&rows, AT, cases[i]);
	}
}

static void unsupported_instructions_mark_the_following_rows(void **state)
{
	const str instructions[] = {
		BYTES("\x44\x0f\x03\x77\x00\x1d"),         /* rsp / ...: an unknown operation */
		BYTES("\x44\x3e"),                         /* an unknown instruction */
		BYTES("\x44\x0b"),                         /* restore without remember */
		BYTES("\x44\x0e"),                         /* truncated */
		BYTES("\x44\x0f\x7f\x77"),                 /* a truncated expression */
		BYTES("\x44\x0f\x02\x77\x08\x0e\x10"),     /* an offset to an expression that is a
							      register: fine */
		BYTES("\x44\x0f\x03\x77\x08\x06\x0e\x10"), /* an offset to an expression that is not
							      a register */
		BYTES("\x44\x09\x07\x08"),                 /* rsp elsewhere, the rest by the CFA */
		BYTES("\x44\x0c\xff\xff\x03\x08"),         /* an invalid register */
		BYTES("\x44\x0f\x02\x33\x22"),             /* addition with one operand */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(instructions); i++) {
		AUTO_CFI_MAKER *maker = cfi_maker_new(true);
		struct unwind_rule after = unsupported;

		cfi_usual_add(maker);
		cfi_function_add(maker, AT, 32, instructions[i]);
		if (i == 5) {
			after = entered;
			after.cfa_offset = 16;
		}

		struct unwind_rows rows = rows_of(maker);

		assert_rule(&rows, AT, entered);
		assert_rule(&rows, AT + 4, after);
		assert_rule(&rows, AT + 31, after);
	}
}

static void a_signal_frame_ignores_its_instructions(void **state)
{
	AUTO_CFI_MAKER *maker = cfi_maker_new(true);

	(void)state;
	cfi_cie_add(maker, "zRS", BYTES("\x0c\x07\x08\x90\x01"));
	cfi_function_add(maker, AT, 32, BYTES("\x0f\x04\x77\xa0\x01\x06"));

	struct unwind_rows rows = rows_of(maker);

	assert_rule(&rows, AT + 5, (struct unwind_rule){ .cfa = UNWIND_CFA_SIGNAL });
	assert_int_equal(rows.rows.len, 1);
}

static void entries_may_be_in_any_order(void **state)
{
	AUTO_CFI_MAKER *maker = cfi_maker_new(true);

	(void)state;
	cfi_usual_add(maker);
	cfi_function_add(maker, AT + 64, 32, BYTES("\x0e\x20"));
	cfi_function_add(maker, AT, 32, BYTES("\x0e\x10"));
	cfi_function_add(maker, AT + 32, 32, BYTES("\x0e\x18"));

	struct unwind_rows rows = rows_of(maker);

	assert_int_equal(rows.rows.len, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(rule_at(&rows, AT + 32 * i).cfa_offset, 16 + 8 * i);
}

static void the_range_that_begins_last_wins_then_the_first_added(void **state)
{
	AUTO_CFI_MAKER *maker = cfi_maker_new(true);

	(void)state;
	cfi_usual_add(maker);
	cfi_function_add(maker, AT, 64, BYTES("\x0e\x10"));
	cfi_function_add(maker, AT + 16, 16, BYTES("\x0e\x18"));
	cfi_function_add(maker, AT + 16, 16, BYTES("\x0e\x20"));

	struct unwind_rows rows = rows_of(maker);

	assert_int_equal(rule_at(&rows, AT + 15).cfa_offset, 16);
	assert_int_equal(rule_at(&rows, AT + 16).cfa_offset, 24);
	assert_rule(&rows, AT + 32, none);
}

static void padding_belongs_to_the_range_before_and_a_larger_gap_has_no_row(void **state)
{
	AUTO_CFI_MAKER *maker = cfi_maker_new(true);

	(void)state;
	cfi_usual_add(maker);
	cfi_function_add(maker, AT, 1, BYTES("\x0e\x10"));
	cfi_function_add(maker, AT + 16, 16, BYTES(""));
	cfi_function_add(maker, AT + 48, 16, BYTES(""));

	struct unwind_rows rows = rows_of(maker);

	assert_int_equal(rule_at(&rows, AT + 15).cfa_offset, 16);
	assert_rule(&rows, AT + 16, entered);
	assert_rule(&rows, AT + 32, none);
	assert_rule(&rows, AT + 47, none);
	assert_rule(&rows, AT + 48, entered);
}

static void drops_ranges_outside_of_code(void **state)
{
	AUTO_CFI_MAKER *maker = cfi_maker_new(true);

	(void)state;
	cfi_usual_add(maker);
	cfi_function_add(maker, 0, 64, BYTES(""));                   /* removed by a linker */
	cfi_function_add(maker, AT, 0, BYTES(""));                   /* empty */
	cfi_function_add(maker, AT + CODE_BYTES - 8, 16, BYTES("")); /* past its end */
	cfi_function_add(maker, UINT64_MAX - 4, 16, BYTES(""));
	cfi_function_add(maker, AT + 8, UINT64_MAX - 4, BYTES(""));
	maker->cie_at += 4; /* there is no such CIE */
	cfi_function_add(maker, AT, 16, BYTES(""));
	assert_int_equal(rows_of(maker).rows.len, 0);
}

static void an_advance_past_the_end_is_the_end(void **state)
{
	AUTO_CFI_MAKER *maker = cfi_maker_new(true);

	(void)state;
	cfi_usual_add(maker);
	cfi_function_add(maker, AT, 16, BYTES("\x44\x0e\x10\x04\xff\xff\xff\xff\x0e\x18"));
	cfi_function_add(maker, AT + 16, 16, BYTES("\x1d\xff\xff\xff\xff\xff\xff\xff\xff\x0e\x18"));

	struct unwind_rows rows = rows_of(maker);

	assert_int_equal(rows.rows.len, 3);
	assert_int_equal(rule_at(&rows, AT + 15).cfa_offset, 16);
	assert_rule(&rows, AT + 31, entered);
}

static void states_are_remembered_up_to_a_limit(void **state)
{
	(void)state;
	for (size_t depth = UNWIND_REMEMBERED_MAX; depth <= UNWIND_REMEMBERED_MAX + 1; depth++) {
		AUTO_CFI_MAKER *maker = cfi_maker_new(true);
		struct buf instructions = { .arena = &maker->arena };

		for (size_t i = 0; i < depth; i++) {
			buf_u8(&instructions, 0x0a);
			buf_u8(&instructions, 0x0e);
			buf_u8(&instructions, (uint8_t)(16 + i));
		}
		for (size_t i = 0; i < depth; i++)
			buf_u8(&instructions, 0x0b);
		cfi_usual_add(maker);
		cfi_function_add(maker, AT, 32, buf_bytes(&instructions));

		struct unwind_rows rows = rows_of(maker);

		assert_rule(&rows, AT, depth > UNWIND_REMEMBERED_MAX ? unsupported : entered);
	}
}

static void a_terminator_in_the_middle_is_skipped(void **state)
{
	AUTO_CFI_MAKER *maker = cfi_maker_new(true);

	(void)state;
	cfi_usual_add(maker);
	cfi_function_add(maker, AT, 16, BYTES(""));
	buf_u32(&maker->bytes, 0);
	cfi_usual_add(maker);
	cfi_function_add(maker, AT + 16, 16, BYTES("\x0e\x10"));

	struct unwind_rows rows = rows_of(maker);

	assert_int_equal(rows.rows.len, 2);
}

static void debug_frame_may_have_a_cie_after_its_fdes(void **state)
{
	AUTO_CFI_MAKER *maker = cfi_maker_new(false);
	uint32_t body_len = 16;

	(void)state;
	maker->cie_at = 4 + 4 + body_len;
	cfi_function_add(maker, AT, 16, BYTES(""));
	assert_int_equal(maker->bytes.len, maker->cie_at);
	cfi_usual_add(maker);

	struct unwind_rows rows = rows_of(maker);

	assert_rule(&rows, AT, entered);
}

/* An entry with a 64-bit length; in .debug_frame its id has 64 bits as well. */
static void long_entry_add(struct cfi_maker *maker, uint64_t id, str body)
{
	buf_u32(&maker->bytes, UINT32_MAX);
	buf_u64(&maker->bytes, (maker->is_eh ? 4 : 8) + body.len);
	if (maker->is_eh)
		buf_u32(&maker->bytes, (uint32_t)id);
	else
		buf_u64(&maker->bytes, id);
	buf_str(&maker->bytes, body);
}

static void reads_64_bit_lengths(void **state)
{
	(void)state;
	for (int is_eh = 0; is_eh < 2; is_eh++) {
		AUTO_CFI_MAKER *maker = cfi_maker_new(is_eh);
		struct buf body = { .arena = &maker->arena };

		long_entry_add(maker, is_eh ? 0 : UINT64_MAX,
			       BYTES("\x01\0\x01\x78\x10\x0c\x07\x08\x90\x01"));
		buf_u64(&body, AT);
		buf_u64(&body, 16);
		/* The first entry is at 0: a distance backwards, or an offset in the section. */
		long_entry_add(maker, is_eh ? maker->bytes.len + 12 : 0, buf_bytes(&body));

		struct unwind_rows rows = rows_of(maker);

		assert_rule(&rows, AT, entered);
	}
}

/* The bytes of a CIE before its instructions, and whether its FDEs are used. */
static void parses_each_version_and_letter_of_a_cie(void **state)
{
	static const struct {
		str head;
		bool is_known, has_augmentation;
	} cases[] = {
		{ BYTES("\x01\0\x01\x78\x10"), true, false },
		{ BYTES("\x03\0\x01\x78\x10"), true, false },
		{ BYTES("\x04\0\x08\0\x01\x78\x10"), true, false },
		{ BYTES("\x04\0\x04\0\x01\x78\x10"), false, false },   /* 32-bit addresses */
		{ BYTES("\x04\0\x08\x02\x01\x78\x10"), false, false }, /* segments */
		{ BYTES("\x02\0\x01\x78\x10"), false, false },
		{ BYTES("\x01zRSBG\0\x01\x78\x10\x01\x04"), true, true },
		{ BYTES("\x01zPLR\0\x01\x78\x10\x07\x9b\0\0\0\0\x1b\x04"), true, true },
		{ BYTES("\x01zPR\0\x01\x78\x10\x02\x0e\x04"), false, true }, /* no encoding */
		{ BYTES("\x01zR\0\x01\x78\x10\0"), false, true }, /* shorter than its letters */
		{ BYTES("\x01zX\0\x01\x78\x10\0"), false, true },
		{ BYTES("\x01"
			"eh\0\x01\x78\x10"),
		  false, false },
		{ BYTES("\x01z"), false, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_CFI_MAKER *maker = cfi_maker_new(true);
		struct buf body = { .arena = &maker->arena };

		buf_str(&body, cases[i].head);
		buf_str(&body, BYTES("\x0c\x07\x08\x90\x01"));
		cfi_entry_add(maker, 0, buf_bytes(&body));
		body.len = 0;
		buf_u64(&body, AT);
		buf_u64(&body, 16);
		if (cases[i].has_augmentation)
			buf_u8(&body, 0);
		cfi_entry_add(maker, (uint32_t)maker->bytes.len + 4, buf_bytes(&body));
		assert_int_equal(rows_of(maker).rows.len, cases[i].is_known);
	}
}

static void runs_each_instruction(void **state)
{
	const struct {
		str instructions;
		uint32_t at; /* the rule holds from here on */
		struct unwind_rule rule;
	} cases[] = {
		{ BYTES("\x02\x05\x0e\x10"), 5, { 1, 7, 0, 1, 16, 0, 0, -8 } },
		{ BYTES("\x03\x05\0\x0e\x10"), 5, { 1, 7, 0, 1, 16, 0, 0, -8 } },
		{ BYTES("\x04\x05\0\0\0\x0e\x10"), 5, { 1, 7, 0, 1, 16, 0, 0, -8 } },
		{ BYTES("\x1d\x05\0\0\0\0\0\0\0\x0e\x10"), 5, { 1, 7, 0, 1, 16, 0, 0, -8 } },
		{ BYTES("\x01\x05\x10\0\0\0\0\0\0\x0e\x10"), 5, { 1, 7, 0, 1, 16, 0, 0, -8 } },
		{ BYTES("\x41\x13\x7e"), 1, { 1, 7, 0, 1, 16, 0, 0, -8 } },
		{ BYTES("\x41\x12\x06\x7e"), 1, { 1, 6, 0, 1, 16, 0, 0, -8 } },
		{ BYTES("\x41\x0d\x06\x0e\x10"), 1, { 1, 6, 0, 1, 16, 0, 0, -8 } },
		{ BYTES("\x41\x05\x06\x02"), 1, { 1, 7, 1, 1, 8, 0, -16, -8 } },
		{ BYTES("\x41\x11\x06\x02"), 1, { 1, 7, 1, 1, 8, 0, -16, -8 } },
		{ BYTES("\x41\x05\x06\x02\x2e\x08\x2d\x2c\0\x85\x03\xc5"),
		  1,
		  { 1, 7, 1, 1, 8, 0, -16, -8 } },
		{ BYTES("\x41\x07\x10\x86\x02\x42\x06\x10\x08\x06\x0e\x10"),
		  3,
		  { 1, 7, 0, 1, 16, 0, 0, -8 } },
		{ BYTES("\x41\x14\x06\x02"), 1, { 1, 7, 5, 1, 8, 0, 0, -8 } },
		{ BYTES("\x41\x15\x06\x02"), 1, { 1, 7, 5, 1, 8, 0, 0, -8 } },
		{ BYTES("\x41\x05\x06\x80\x80\x04"), 1, { 1, 7, 5, 1, 8, 0, 0, -8 } },
		{ BYTES("\x41\x09\x06\x80\x02"), 1, { 1, 7, 5, 1, 8, 0, 0, -8 } },
		{ BYTES("\x41\x10\x06\x02\x73\0"), 1, { 1, 7, 5, 1, 8, 0, 0, -8 } },
		{ BYTES("\x41\x08\x10"),
		  1,
		  { 1, 7, 0, 5, 8, 0, 0, 0 } }, /* x86-64 has no link register */
		{ BYTES("\x41\x0f\0\x0d\x06"), 1, { 6, 0, 0, 0, 0, 0, 0, 0 } },
		{ BYTES("\x41\x12\x06\x80\x80\x80\x80\x80\x80\x80\x80\x40"),
		  1,
		  { 6, 0, 0, 0, 0, 0, 0, 0 } },
		{ BYTES("\x41\x01"), 1, { 6, 0, 0, 0, 0, 0, 0, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_CFI_MAKER *maker = cfi_maker_new(true);

		cfi_usual_add(maker);
		cfi_function_add(maker, AT, 32, cases[i].instructions);

		struct unwind_rows rows = rows_of(maker);

		assert_rule(&rows, AT, entered);
		assert_rule(&rows, AT + cases[i].at, cases[i].rule);
	}
}

static void ends_at_the_memory_limit(void **state)
{
	AUTO_CFI_MAKER *maker = cfi_maker_new(true);
	AUTO_ARENA arena = { 0 };
	struct unwind_rows rows;
	struct err err = { 0 };

	(void)state;
	cfi_usual_add(maker);
	for (uint64_t i = 0; i < CODE_BYTES / 16; i++)
		cfi_function_add(maker, AT + i * 16, 16, BYTES("\x41\x0e\x10"));
	assert_false(cfi_rows_of(buf_bytes(&maker->bytes), true, 1 << 16, &arena, &rows, &err));
	assert_int_equal(err.code, ERR_LIMIT);
}

/* Truncated anywhere, or with any byte changed: parsing ends, and rows ascend. */
static void rows_ascend_for_any_input(void **state)
{
	AUTO_CFI_MAKER *maker = cfi_maker_new(true);

	(void)state;
	cfi_usual_add(maker);
	cfi_cie_add(maker, "zPLR", BYTES("\x0c\x07\x08\x90\x01"));
	cfi_usual_add(maker);
	cfi_function_add(maker, AT, 32,
			 BYTES("\x41\x0e\x10\x86\x02\x43\x0a\x0d\x06\x5b\x0c\x07\x08\xc6\x41\x0b"));
	cfi_function_add(maker, AT + 40, 32, BYTES("\x0f\x05\x77\x28\x06\x23\x08\x44\x10\x06\x00"));

	str whole = str_copy(&maker->arena, buf_bytes(&maker->bytes));

	for (size_t i = 0; i < whole.len * 4; i++) {
		AUTO_ARENA arena = { 0 };
		char *bytes = arena_array(&arena, char, whole.len);
		size_t at = i / 4, len = i % 4 == 3 ? at : whole.len;
		struct unwind_rows rows = { 0 };
		struct err err;

		memcpy(bytes, whole.ptr, whole.len);
		bytes[at] = (char)(i % 4 == 0   ? 0xff
				   : i % 4 == 1 ? bytes[at] + 1
						: bytes[at] ^ 0x80);
		assert_true(cfi_rows_of((str){ bytes, len }, true, MEMORY, &arena, &rows, &err));
		for (size_t k = 1; k < rows.rows.len; k++)
			assert_true(rows.rows.items[k].address > rows.rows.items[k - 1].address);
	}
}

RUN_TESTS(TEST(follows_pushes_and_the_frame_pointer), TEST(produces_each_kind_of_rule),
	  TEST(unsupported_instructions_mark_the_following_rows),
	  TEST(a_signal_frame_ignores_its_instructions), TEST(entries_may_be_in_any_order),
	  TEST(the_range_that_begins_last_wins_then_the_first_added),
	  TEST(padding_belongs_to_the_range_before_and_a_larger_gap_has_no_row),
	  TEST(drops_ranges_outside_of_code), TEST(an_advance_past_the_end_is_the_end),
	  TEST(states_are_remembered_up_to_a_limit), TEST(a_terminator_in_the_middle_is_skipped),
	  TEST(debug_frame_may_have_a_cie_after_its_fdes), TEST(reads_64_bit_lengths),
	  TEST(parses_each_version_and_letter_of_a_cie), TEST(runs_each_instruction),
	  TEST(ends_at_the_memory_limit), TEST(rows_ascend_for_any_input))
