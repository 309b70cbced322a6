// SPDX-License-Identifier: Apache-2.0
#include "support/test.h"
#include "symbols/symbol_reach_internal.h"

#include <elf.h>
#include <sys/mman.h>

#define CODE(text)                     \
	{                              \
		text, sizeof(text) - 1 \
	}

enum { CODE_AT = 0x1000, CODE_OFFSET = 64 };

/* The length that a function without a size gets, whose symbol reaches to the end of the code. */
static uint64_t reach(str code, uint16_t machine, uint32_t type)
{
	AUTO_ARENA arena = { 0 };
	AUTO_FD fd = memfd_create("code", MFD_CLOEXEC);
	struct elf_section section = { .type = type,
				       .flags = SHF_ALLOC | SHF_EXECINSTR,
				       .address = CODE_AT,
				       .offset = CODE_OFFSET,
				       .size = code.len };
	struct elf_sections sections = {
		.items = &section, .len = 1, .is_wide = true, .machine = machine
	};
	struct elf_symbol items[] = {
		{ .start = CODE_AT, .end = CODE_AT + code.len, .end_is_guess = true },
		{ .start = CODE_AT, .end = CODE_AT + 1 },
	};
	elf_symbols symbols = { .items = items, .len = ARRAY_LEN(items) };
	struct err err;

	assert_int_equal(pwrite(fd, code.ptr, code.len, CODE_OFFSET), (ssize_t)code.len);
	assert_true(symbol_reach_find(fd, &sections, &arena, &symbols, &err));
	assert_false(items[0].end_is_guess);
	assert_int_equal(items[1].end, CODE_AT + 1);
	return items[0].end - CODE_AT;
}

static void a_function_of_x86_ends_after_its_last_jump(void **state)
{
	static const struct {
		str code;
		uint64_t len;
	} rows[] = {
		{ CODE("\x90\xc3\x90\xc3"), 2 },               /* nop; ret */
		{ CODE("\x74\x01\xc3\x90\xc3\x90\xc3"), 5 },   /* je over a ret */
		{ CODE("\x0f\x84\x01\0\0\0\xc3\xc3\xc3"), 8 }, /* the same, 32 bits */
		{ CODE("\xeb\x01\xc3\xc3\x90"), 4 },           /* a short jmp */
		{ CODE("\xe9\x01\0\0\0\xc3\xc3"), 5 },         /* to another function */
		{ CODE("\x90\xe8\0\0\0\0\xc3"), 6 },           /* a call */
		{ CODE("\x74\x05\xe8\0\0\0\0\xc3\xc3"), 8 },   /* a call that je passes */
		{ CODE("\xff\xd0\xc3"), 2 },                   /* call *%rax */
		{ CODE("\xff\xe0\xc3"), 2 },                   /* jmp *%rax */
		{ CODE("\xff\xc0\xf4\xc3"), 3 },               /* inc; hlt */
		{ CODE("\x0f\x0b\xc3"), 2 },                   /* ud2 */
		{ CODE("\xe2\xfe\xcc\xc3"), 3 },               /* loop; int3 */
		{ CODE("\xc2\x08\0\xc3"), 3 },                 /* ret $8 */
		{ CODE("\x74\x70\xc3\xc3"), 3 },               /* je past the end */
		{ CODE("\xc5\xf8\x77\xc3\xc3"), 4 },           /* vzeroupper; ret */
		{ CODE("\x90\x06\xc3"), 1 },                   /* an unknown instruction */
		{ CODE("\x90"), 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t len = reach(rows[i].code, EM_X86_64, SHT_PROGBITS);

		if (len != rows[i].len)
			fail_msg("row %zu: %ju, and not %ju", i, (uintmax_t)len,
				 (uintmax_t)rows[i].len);
	}
}

static void a_function_of_arm_ends_after_its_last_jump(void **state)
{
	static const struct {
		uint32_t words[4];
		uint64_t len;
	} rows[] = {
		{ { 0xd503201f, 0xd65f03c0, 0xd503201f, 0xd65f03c0 }, 8 },  /* nop; ret */
		{ { 0x54000040, 0xd65f03c0, 0xd65f03c0, 0xd65f03c0 }, 12 }, /* b.eq over a ret */
		{ { 0xb4000040, 0xd65f03c0, 0xd65f03c0, 0xd65f03c0 }, 12 }, /* cbz */
		{ { 0x36000040, 0xd65f03c0, 0xd65f03c0, 0xd65f03c0 }, 12 }, /* tbz */
		{ { 0x54ffffe0, 0x14000010, 0xd503201f, 0xd65f03c0 }, 8 },  /* back; b away */
		{ { 0xd503201f, 0x94000010, 0xd503201f, 0xd65f03c0 }, 8 },  /* bl */
		{ { 0xd63f0020, 0xd503201f, 0xd503201f, 0xd65f03c0 }, 4 },  /* blr */
		{ { 0xd61f0020, 0xd503201f, 0xd503201f, 0xd65f03c0 }, 4 },  /* br */
		{ { 0xd503201f, 0, 0xd503201f, 0xd65f03c0 }, 8 },           /* udf */
		{ { 0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f }, 16 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		str code = { (const char *)rows[i].words, sizeof(rows[i].words) };
		uint64_t len = reach(code, EM_AARCH64, SHT_PROGBITS);

		if (len != rows[i].len)
			fail_msg("row %zu: %ju, and not %ju", i, (uintmax_t)len,
				 (uintmax_t)rows[i].len);
	}
}

static void without_code_a_function_is_empty(void **state)
{
	(void)state;
	assert_int_equal(reach(STR("\x90\xc3"), EM_X86_64, SHT_NOBITS), 0);
	assert_int_equal(reach(STR("\x90\xc3"), EM_RISCV, SHT_PROGBITS), 0);
}

static void code_beyond_the_limit_is_not_read(void **state)
{
	AUTO_ARENA arena = { 0 };
	AUTO_FD fd = memfd_create("code", MFD_CLOEXEC);
	struct elf_section section = { .type = SHT_PROGBITS,
				       .flags = SHF_ALLOC | SHF_EXECINSTR,
				       .address = CODE_AT,
				       .size = SYMBOL_REACH_CODE_MAX + 1ULL };
	struct elf_sections sections = {
		.items = &section, .len = 1, .is_wide = true, .machine = EM_X86_64
	};
	struct elf_symbol symbol = { .start = CODE_AT, .end = CODE_AT + 9, .end_is_guess = true };
	elf_symbols symbols = { .items = &symbol, .len = 1 };
	struct err err;

	(void)state;
	assert_true(symbol_reach_find(fd, &sections, &arena, &symbols, &err));
	assert_int_equal(symbol.end, CODE_AT);
}

RUN_TESTS(TEST(a_function_of_x86_ends_after_its_last_jump),
	  TEST(a_function_of_arm_ends_after_its_last_jump), TEST(without_code_a_function_is_empty),
	  TEST(code_beyond_the_limit_is_not_read))
