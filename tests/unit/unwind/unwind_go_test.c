// SPDX-License-Identifier: Apache-2.0
/*
 * A hand-made .gopclntab of Go 1.20 and later, with its code.
 */
#include "base/buf.h"
#include "support/test.h"
#include "symbols/go_table.h"
#include "unwind/unwind_fixed_internal.h"
#include "unwind/unwind_go_internal.h"

#include <elf.h>
#include <sys/mman.h>

enum { CODE_AT = 0x1000, FUNCTION_BYTES = 32, TABLE_OFFSET = 0x8000, MEMORY = 1 << 28 };

struct made_depth {
	int64_t depth;
	uint32_t bytes;
};

struct made_function {
	const char *name;
	uint8_t flags;
	str code;
	struct made_depth depths[4]; /* terminated by an entry of 0 bytes */
};

#define CODE(literal) STR(literal)
/* push %rbp; mov %rsp, %rbp; sub $16, %rsp */
#define FRAME_CODE CODE("\x55\x48\x89\xe5\x48\x83\xec\x10")
#define FRAME_DEPTHS                            \
	{                                       \
		{ 0, 1 }, { 8, 7 }, { 24, 24 }, \
	}

static const struct unwind_machine x86_64 = { 6, 7, 16, false };
static const struct unwind_machine arm64 = { 29, 31, 30, true };

struct made {
	struct arena arena;
	struct unwind_rows rows;
	bool is_go;
};

static uint32_t depths_add(struct buf *values, const struct made_depth *depths)
{
	uint32_t at = (uint32_t)values->len;
	int64_t last = -1;

	if (!depths[0].bytes)
		return 0;
	for (size_t i = 0; i < 4 && depths[i].bytes; i++) {
		buf_zigzag(values, depths[i].depth - last);
		buf_varint(values, depths[i].bytes);
		last = depths[i].depth;
	}
	buf_u8(values, 0);
	return at;
}

static void record_add(struct buf *records, uint32_t start, uint32_t name, uint32_t depths,
		       uint8_t flags)
{
	const uint32_t words[] = { start, name, 0, 0, depths, 0, 0, 0, 0, 0 };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		buf_u32(records, words[i]);
	buf_u8(records, 0); /* kind */
	buf_u8(records, flags);
	buf_u16(records, 0);
}

static str table_make(struct arena *arena, const struct made_function *functions, size_t count)
{
	struct buf names = { .arena = arena }, values = { .arena = arena };
	struct buf records = { .arena = arena }, pairs = { .arena = arena };
	struct buf table = { .arena = arena };
	size_t pairs_bytes = count * 8 + 4;

	buf_u8(&values, 0); /* offset 0: no list */
	for (size_t i = 0; i < count; i++) {
		uint32_t start = (uint32_t)i * FUNCTION_BYTES;

		buf_u32(&pairs, start);
		buf_u32(&pairs, (uint32_t)(pairs_bytes + records.len));
		record_add(&records, start, (uint32_t)names.len,
			   depths_add(&values, functions[i].depths), functions[i].flags);
		buf_bytes_add(&names, functions[i].name, strlen(functions[i].name) + 1);
	}
	buf_u32(&pairs, (uint32_t)count * FUNCTION_BYTES);

	uint64_t names_at = 8 + 8 * 8, values_at = names_at + names.len;
	const uint64_t words[] = {
		count, 0, CODE_AT, names_at, names_at, names_at, values_at, values_at + values.len,
	};

	buf_u32(&table, GO_1_20);
	buf_u16(&table, 0);
	buf_u8(&table, 1); /* bytes of an instruction */
	buf_u8(&table, 8);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		buf_u64(&table, words[i]);
	buf_str(&table, buf_bytes(&names));
	buf_str(&table, buf_bytes(&values));
	buf_str(&table, buf_bytes(&pairs));
	buf_str(&table, buf_bytes(&records));
	return buf_bytes(&table);
}

static int program_fd(const struct made_function *functions, size_t count, str table)
{
	int fd = memfd_create("go", MFD_CLOEXEC);

	for (size_t i = 0; i < count; i++)
		if (functions[i].code.len)
			assert_int_equal(pwrite(fd, functions[i].code.ptr, functions[i].code.len,
						(off_t)(i * FUNCTION_BYTES)),
					 (ssize_t)functions[i].code.len);
	assert_int_equal(pwrite(fd, table.ptr, table.len, TABLE_OFFSET), (ssize_t)table.len);
	return fd;
}

static void rows_make_of(struct made *made, const struct unwind_machine *machine,
			 const struct made_function *functions, size_t count, str table)
{
	AUTO_FD fd = program_fd(functions, count, table);
	struct elf_file *elf = arena_new(&made->arena, struct elf_file);
	struct elf_code *code = arena_new(&made->arena, struct elf_code);
	struct elf_section section = { .name = STR(".gopclntab"),
				       .type = SHT_PROGBITS,
				       .address = 0x100000,
				       .offset = TABLE_OFFSET,
				       .size = table.len };
	struct elf_sections sections = { .items = &section, .len = 1, .is_wide = true };
	struct unwind_go go = { &sections, machine, code };
	struct unwind_ranges ranges;
	struct err err = { 0 };

	elf->segments[0] = (struct elf_segment){ 0, TABLE_OFFSET, CODE_AT, true };
	elf->segment_count = 1;
	code->fd = fd;
	code->elf = elf;
	assert_true(unwind_ranges_init(&ranges, elf, MEMORY, &made->arena, &err));
	unwind_fixed_init(&ranges, machine);
	assert_true(unwind_go_list(&go, &ranges, &made->is_go, &err));
	assert_true(unwind_ranges_rows(&ranges, &made->rows, &err));
}

static void rows_make(struct made *made, const struct unwind_machine *machine,
		      const struct made_function *functions, size_t count)
{
	rows_make_of(made, machine, functions, count, table_make(&made->arena, functions, count));
}

static struct unwind_rule rule_at(const struct made *made, size_t function, uint32_t offset)
{
	const struct unwind_rows *rows = &made->rows;
	uint64_t address = CODE_AT + function * FUNCTION_BYTES + offset;
	struct unwind_rule rule = { 0 };

	for (size_t i = 0; i < rows->rows.len; i++)
		if (rows->base + rows->rows.items[i].address <= address)
			rule = rows->rules.items[rows->rows.items[i].rule];
	return rule;
}

static void assert_frame(struct unwind_rule rule, int32_t cfa_offset, uint8_t frame_pointer,
			 uint8_t return_address)
{
	assert_int_equal(rule.cfa, UNWIND_CFA_REGISTER);
	assert_int_equal(rule.cfa_register, 7);
	assert_int_equal(rule.cfa_offset, cfa_offset);
	assert_int_equal(rule.frame_pointer, frame_pointer);
	assert_int_equal(rule.frame_pointer_offset, frame_pointer == UNWIND_SAVED_AT_CFA ? -16 : 0);
	assert_int_equal(rule.return_address, return_address);
	assert_int_equal(rule.return_address_offset,
			 return_address == UNWIND_SAVED_AT_CFA ? -8 : 0);
}

static void finds_depths_and_saved_frame_pointers(void **state)
{
	const struct made_function functions[] = {
		{ "main.leaf", 0, CODE("\xc3"), { { 0, 32 } } },
		{ "main.frame", 0, FRAME_CODE, FRAME_DEPTHS },
		/* sub $24, %rsp; mov %rbp, 16(%rsp): before Go 1.21 */
		{ "main.older",
		  0,
		  CODE("\x48\x83\xec\x18\x48\x89\x6c\x24\x10"),
		  { { 0, 4 }, { 24, 28 } } },
		/* sub $0x108, %rsp; mov %rbp, 0x100(%rsp) */
		{ "main.large",
		  0,
		  CODE("\x48\x81\xec\x08\x01\0\0\x48\x89\xac\x24\0\x01\0\0"),
		  { { 0, 7 }, { 0x108, 25 } } },
		{ "asm.without",
		  0,
		  CODE("\x48\x83\xec\x18\x90\x90\x90\x90\x90"),
		  { { 0, 4 }, { 24, 28 } } },
		/* a return in the middle, then code in the frame */
		{ "main.returns",
		  0,
		  CODE("\x55\x48\x89\xe5\x5d\xc3"),
		  { { 0, 1 }, { 8, 4 }, { 0, 1 }, { 8, 26 } } },
	};
	struct made made = { 0 };

	(void)state;
	rows_make(&made, &x86_64, functions, ARRAY_LEN(functions));
	assert_true(made.is_go);
	assert_frame(rule_at(&made, 0, 0), 8, UNWIND_SAVED_SAME, UNWIND_SAVED_AT_CFA);
	assert_frame(rule_at(&made, 1, 0), 8, UNWIND_SAVED_SAME, UNWIND_SAVED_AT_CFA);
	assert_frame(rule_at(&made, 1, 1), 16, UNWIND_SAVED_AT_CFA, UNWIND_SAVED_AT_CFA);
	assert_frame(rule_at(&made, 1, 31), 32, UNWIND_SAVED_AT_CFA, UNWIND_SAVED_AT_CFA);
	assert_frame(rule_at(&made, 2, 4), 32, UNWIND_SAVED_AT_CFA, UNWIND_SAVED_AT_CFA);
	assert_frame(rule_at(&made, 3, 7), 0x110, UNWIND_SAVED_AT_CFA, UNWIND_SAVED_AT_CFA);
	assert_frame(rule_at(&made, 4, 4), 32, UNWIND_SAVED_SAME, UNWIND_SAVED_AT_CFA);
	assert_frame(rule_at(&made, 5, 5), 8, UNWIND_SAVED_SAME, UNWIND_SAVED_AT_CFA);
	assert_frame(rule_at(&made, 5, 6), 16, UNWIND_SAVED_AT_CFA, UNWIND_SAVED_AT_CFA);
	arena_free(&made.arena);
}

static void finds_roots_switches_and_signals(void **state)
{
	const struct made_function functions[] = {
		{ "runtime.goexit.abi0", 0, CODE("\x90"), { { 0, 32 } } },
		{ "runtime.mcall", GO_FUNCTION_MOVES_STACK, FRAME_CODE, FRAME_DEPTHS },
		{ "runtime.systemstack.abi0", GO_FUNCTION_MOVES_STACK, FRAME_CODE, FRAME_DEPTHS },
		{ "runtime.other", GO_FUNCTION_MOVES_STACK, CODE("\x90"), { { 0, 32 } } },
		{ "runtime.top", GO_FUNCTION_TOP, FRAME_CODE, FRAME_DEPTHS },
		{ "runtime.sigtramp", GO_FUNCTION_TOP, FRAME_CODE, FRAME_DEPTHS },
		{ "runtime.sigreturn__sigaction.abi0", 0, CODE("\x90"), { { 0, 32 } } },
		{ "syscall.rawVforkSyscall", 0, CODE("\x90"), { { -8, 32 } } },
		{ "main.unknown", 0, CODE("\x90"), { { 0, 0 } } },
	};
	struct made made = { 0 };

	(void)state;
	rows_make(&made, &x86_64, functions, ARRAY_LEN(functions));
	assert_frame(rule_at(&made, 0, 0), 8, UNWIND_SAVED_SAME, UNWIND_SAVED_UNDEFINED);
	assert_frame(rule_at(&made, 1, 8), 32, UNWIND_SAVED_AT_CFA, UNWIND_SAVED_UNDEFINED);
	assert_frame(rule_at(&made, 2, 0), 8, UNWIND_SAVED_SAME, UNWIND_SAVED_AT_CFA);
	assert_int_equal(rule_at(&made, 2, 8).cfa, UNWIND_CFA_FRAME_POINTER);
	assert_frame(rule_at(&made, 3, 0), 8, UNWIND_SAVED_SAME, UNWIND_SAVED_UNDEFINED);
	assert_frame(rule_at(&made, 4, 8), 32, UNWIND_SAVED_AT_CFA, UNWIND_SAVED_UNDEFINED);
	assert_frame(rule_at(&made, 5, 8), 32, UNWIND_SAVED_AT_CFA, UNWIND_SAVED_AT_CFA);
	assert_frame(rule_at(&made, 5, 30), 32, UNWIND_SAVED_AT_CFA, UNWIND_SAVED_AT_CFA);
	assert_int_equal(rule_at(&made, 5, 31).cfa, UNWIND_CFA_SIGNAL);
	assert_int_equal(rule_at(&made, 6, 31).cfa, UNWIND_CFA_SIGNAL);
	assert_int_equal(rule_at(&made, 7, 0).cfa, UNWIND_CFA_UNSUPPORTED);
	assert_int_equal(rule_at(&made, 8, 0).cfa, UNWIND_CFA_FRAME_POINTER);
	arena_free(&made.arena);
}

static void on_arm64_both_are_at_the_frames_lower_end(void **state)
{
	const struct made_function functions[] = {
		{ "main.frame", 0, CODE("\x90"), { { 0, 4 }, { 48, 28 } } },
		{ "runtime.systemstack",
		  GO_FUNCTION_MOVES_STACK,
		  CODE("\x90"),
		  { { 0, 4 }, { 48, 28 } } },
		{ "main.huge", 0, CODE("\x90"), { { 0, 4 }, { 1 << 20, 28 } } },
	};
	struct made made = { 0 };

	(void)state;
	rows_make(&made, &arm64, functions, ARRAY_LEN(functions));

	struct unwind_rule rule = rule_at(&made, 0, 0);
	const struct unwind_rule leaf = { UNWIND_CFA_REGISTER, 31, 0, 0, 0, 0, 0, 0 };
	const struct unwind_rule frame = {
		UNWIND_CFA_REGISTER, 31, UNWIND_SAVED_AT_CFA, UNWIND_SAVED_AT_CFA, 48, 0, -56, -48,
	};

	assert_memory_equal(&rule, &leaf, sizeof(rule));
	rule = rule_at(&made, 0, 4);
	assert_memory_equal(&rule, &frame, sizeof(rule));
	rule = rule_at(&made, 1, 4);
	assert_int_equal(rule.cfa_register, 29);
	assert_int_equal(rule.cfa_offset, 56);
	assert_int_equal(rule_at(&made, 2, 4).cfa, UNWIND_CFA_FRAME_POINTER);
	arena_free(&made.arena);
}

static void a_truncated_table_has_its_first_rows(void **state)
{
	const struct made_function functions[] = {
		{ "main.frame", 0, FRAME_CODE, FRAME_DEPTHS },
		{ "main.other", 0, FRAME_CODE, FRAME_DEPTHS },
		{ "main.last", 0, FRAME_CODE, FRAME_DEPTHS },
	};
	AUTO_ARENA arena = { 0 };
	str table = table_make(&arena, functions, ARRAY_LEN(functions));

	(void)state;
	for (size_t i = 1; i < table.len * 2; i++) {
		struct made made = { 0 };
		char *bytes = arena_array(&arena, char, table.len);

		memcpy(bytes, table.ptr, table.len);
		if (i % 2)
			bytes[i / 2] ^= (char)0x81;
		rows_make_of(&made, &x86_64, functions, ARRAY_LEN(functions),
			     (str){ bytes, i % 2 ? table.len : i / 2 });
		assert_true(made.is_go);
		for (size_t k = 1; k < made.rows.rows.len; k++)
			assert_true(made.rows.rows.items[k].address >
				    made.rows.rows.items[k - 1].address);
		arena_free(&made.arena);
	}
}

/* All functions share one list, of a million depths at the first byte of the function. */
static void bounds_the_work_for_shared_lists(void **state)
{
	enum { FUNCTIONS = 64 };
	struct made_function functions[FUNCTIONS] = { { 0 } };
	struct made made = { 0 };

	(void)state;
	for (size_t i = 0; i < FUNCTIONS; i++)
		functions[i].name = "main.f";

	str table = table_make(&made.arena, functions, FUNCTIONS);
	struct buf bytes = { .arena = &made.arena };

	/* The list is at the end, and the part with the lists includes it. */
	buf_str(&bytes, table);

	struct reader r = reader_of(str_skip(table, 8 + 8 * 6));
	uint64_t values_at = reader_u64(&r), records_at = reader_u64(&r);

	for (size_t i = 0; i < FUNCTIONS; i++) {
		uint32_t at = (uint32_t)(table.len - values_at);
		size_t record = records_at + FUNCTIONS * 8 + 4 + i * 44;

		memcpy(bytes.ptr + record + 16, &at, sizeof(at));
	}
	buf_str(&bytes, STR("\x02\0"));
	for (size_t i = 0; i < GO_VALUES_MAX / 2; i++)
		buf_str(&bytes, STR("\x04\0\x03\0"));
	rows_make_of(&made, &x86_64, functions, FUNCTIONS, buf_bytes(&bytes));
	assert_int_equal(rule_at(&made, 0, 0).cfa, UNWIND_CFA_REGISTER);
	assert_int_equal(rule_at(&made, FUNCTIONS - 1, 0).cfa, UNWIND_CFA_FRAME_POINTER);
	arena_free(&made.arena);
}

static void a_file_without_go_has_no_rows(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct elf_sections none = { 0 };
	struct unwind_go go = { .sections = &none, .machine = &x86_64 };
	struct unwind_ranges ranges = { .arena = &arena };
	struct err err = { 0 };
	bool is_go = true;

	(void)state;
	assert_true(unwind_go_list(&go, &ranges, &is_go, &err));
	assert_false(is_go);
	assert_int_equal(unwind_ranges_count(&ranges), 0);
}

RUN_TESTS(TEST(finds_depths_and_saved_frame_pointers), TEST(finds_roots_switches_and_signals),
	  TEST(on_arm64_both_are_at_the_frames_lower_end),
	  TEST(a_truncated_table_has_its_first_rows), TEST(bounds_the_work_for_shared_lists),
	  TEST(a_file_without_go_has_no_rows))
