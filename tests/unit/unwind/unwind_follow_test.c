// SPDX-License-Identifier: Apache-2.0
#include "support/test.h"
#include "unwind/unwind_follow_internal.h"

#include <elf.h>
#include <sys/mman.h>

enum { CODE_AT = 0x1000, CODE_BYTES = 0x1000, MEMORY = 1 << 28 };

struct followed {
	struct arena arena;
	struct unwind_rows rows;
};

/* The rows of this code, which has no unwind information. */
static void follow(struct followed *followed, str code)
{
	AUTO_FD fd = memfd_create("code", MFD_CLOEXEC);
	struct elf_file elf = { .segments = { { 0, CODE_BYTES, CODE_AT, true } },
				.segment_count = 1 };
	struct elf_section section = {
		.name = STR(".text"), .type = SHT_PROGBITS, .address = CODE_AT, .size = code.len
	};
	struct elf_sections sections = { .items = &section, .len = 1, .is_wide = true };
	struct unwind_follow options = { fd, &sections };
	struct unwind_ranges ranges;
	struct err err = { 0 };

	assert_int_equal(write(fd, code.ptr, code.len), (ssize_t)code.len);
	assert_true(unwind_ranges_init(&ranges, &elf, MEMORY, &followed->arena, &err));
	assert_true(unwind_follow_list(&options, &ranges, &err));
	assert_true(unwind_ranges_rows(&ranges, &followed->rows, &err));
}

/* "register+offset", and " fp-16" where the frame pointer is saved; "none". */
static str rule_text(struct followed *followed, uint32_t at)
{
	const struct unwind_rows *rows = &followed->rows;
	struct unwind_rule rule = { 0 };

	for (size_t i = 0; i < rows->rows.len && at < rows->end; i++)
		if (rows->rows.items[i].address <= at)
			rule = rows->rules.items[rows->rows.items[i].rule];
	if (rule.cfa == UNWIND_CFA_NONE)
		return STR("none");
	assert_int_equal(rule.cfa, UNWIND_CFA_REGISTER);
	assert_int_equal(rule.return_address_offset, -8);
	if (rule.frame_pointer == UNWIND_SAVED_SAME)
		return str_format(&followed->arena, "%u+%d", rule.cfa_register, rule.cfa_offset);
	return str_format(&followed->arena, "%u+%d fp%d", rule.cfa_register, rule.cfa_offset,
			  rule.frame_pointer_offset);
}

static void consistent_code_has_rows(void **state)
{
	static const struct {
		str code;
		uint32_t at;
		const char *rule;
	} cases[] = {
		/* push %rbp; push %rbx; sub $8, %rsp; nop; add $8, %rsp; pop %rbx; pop %rbp; ret */
		{ STR("\x55\x53\x48\x83\xec\x08\x90\x48\x83\xc4\x08\x5b\x5d\xc3"), 0, "7+8" },
		{ STR("\x55\x53\x48\x83\xec\x08\x90\x48\x83\xc4\x08\x5b\x5d\xc3"), 6,
		  "7+32 fp-16" },
		{ STR("\x55\x53\x48\x83\xec\x08\x90\x48\x83\xc4\x08\x5b\x5d\xc3"), 13, "7+8" },
		/* push $1; push (%rax); pushf; lea 24(%rsp), %rsp; ret */
		{ STR("\x6a\x01\xff\x30\x9c\x48\x8d\x64\x24\x18\xc3"), 5, "7+32" },
		{ STR("\x6a\x01\xff\x30\x9c\x48\x8d\x64\x24\x18\xc3"), 10, "7+8" },
		/* push %rbx; je past; pop %rbx; ret; past: nop; pop %rbx; ret */
		{ STR("\x53\x74\x02\x5b\xc3\x90\x5b\xc3"), 5, "7+16" },
		/* push %rbx; jmp test; body: xor %eax, %eax; test: jne body; pop %rbx; ret */
		{ STR("\x53\xeb\x02\x31\xc0\x75\xfc\x5b\xc3"), 3, "7+16" },
		/* push %rbx; jmp *%rax; (the target of a jump table) xor; pop %rbx; ret */
		{ STR("\x53\xff\xe0\x31\xc0\x5b\xc3"), 3, "7+16" },
		/* push %rbp; mov %rsp, %rbp; and $-32, %rsp; sub %rax, %rsp; nop; leave; ret */
		{ STR("\x55\x48\x89\xe5\x48\x83\xe4\xe0\x48\x29\xc4\x90\xc9\xc3"), 11,
		  "6+16 fp-16" },
		{ STR("\x55\x48\x89\xe5\x48\x83\xe4\xe0\x48\x29\xc4\x90\xc9\xc3"), 13, "7+8" },
		/* the same, left by lea -8(%rbp), %rsp; pop %rbx; pop %rbp; ret */
		{ STR("\x55\x48\x8b\xec\x90\x53\x48\x29\xc4\x48\x8d\x65\xf8\x5b\x5d\xc3"), 9,
		  "6+16 fp-16" },
		{ STR("\x55\x48\x89\xe5\x53\x48\x29\xc4\x48\x8d\x65\xf8\x5b\x5d\xc3"), 8,
		  "6+16 fp-16" },
		{ STR("\x55\x48\x89\xe5\x53\x48\x29\xc4\x48\x8d\x65\xf8\x5b\x5d\xc3"), 12,
		  "7+24 fp-16" },
		/* a call that does not return, then another function */
		{ STR("\x50\xe8\x03\0\0\0\x0f\x0b\x90\x53\x5b\xc3"), 6, "7+16" },
		{ STR("\x50\xe8\x03\0\0\0\x0f\x0b\x90\x53\x5b\xc3"), 10, "7+16" },
		/* lea second(%rip), %rax; push; ud2; nop; second: push; ud2 */
		{ STR("\x48\x8d\x05\x04\0\0\0\x53\x0f\x0b\x90\x53\x0f\x0b"), 12, "7+16" },
		/* the second function is neither called nor referenced */
		{ STR("\x53\x5b\xc3\x90\x90\x55\x5d\xc3"), 5, "7+8" },
		{ STR("\x53\x5b\xc3\x90\x90\x55\x5d\xc3"), 6, "7+16 fp-16" },
		/* pop %rdi; jmp *%rdi: after the pop there is no return address */
		{ STR("\x90\x5f\xff\xe7"), 0, "7+8" },
		{ STR("\x90\x5f\xff\xe7"), 2, "none" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct followed followed = { 0 };

		follow(&followed, cases[i].code);

		str found = rule_text(&followed, cases[i].at);

		if (!str_eq(found, str_from(cases[i].rule)))
			fail_msg("%zu: " STR_FMT ", not %s", i, STR_ARG(found), cases[i].rule);
		arena_free(&followed.arena);
	}
}

static void inconsistent_code_has_no_rows(void **state)
{
	static const str cases[] = {
		STR("\x53\xc3"),                       /* returns without a pop */
		STR("\x53\x74\x01\x53\x5b\xc3"),       /* two paths with different depths */
		STR("\x48\x29\xc4\xc3"),               /* subtracts an unknown value */
		STR("\x48\x89\xc4\xc3"),               /* sets an unknown value */
		STR("\x5c\xc3"),                       /* pop %rsp */
		STR("\x48\x87\xe0\xc3"),               /* xchg */
		STR("\x48\x83\xcc\x01\xc3"),           /* or $1, %rsp */
		STR("\x90\x06\xc3"),                   /* an invalid instruction */
		STR("\xc9\xc3"),                       /* leave without a frame */
		STR("\x48\x81\xec\0\0\0\x70\x90\xc3"), /* a frame that is too large */
		STR("\x58\x58\x58\xc3"),               /* above the return address */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct followed followed = { 0 };

		follow(&followed, cases[i]);
		if (followed.rows.rows.len)
			fail_msg("%zu has rows", i);
		arena_free(&followed.arena);
	}
}

static void code_reached_with_a_frame_is_part_of_another_function(void **state)
{
	struct followed followed = { 0 };

	(void)state;
	/* call second; call third; ret; second: push; je third + 1; pop; ret; third: nop; nop; ret
	 */
	follow(&followed, STR("\xe8\x06\0\0\0\xe8\x06\0\0\0\xc3\x53\x74\x03\x5b\xc3\x90\x90\xc3"));
	assert_true(str_eq(rule_text(&followed, 12), STR("7+16")));
	assert_true(str_eq(rule_text(&followed, 10), STR("7+8")));
	arena_free(&followed.arena);
}

RUN_TESTS(TEST(consistent_code_has_rows), TEST(inconsistent_code_has_no_rows),
	  TEST(code_reached_with_a_frame_is_part_of_another_function))
