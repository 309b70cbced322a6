// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_stand - a simulated thread: a stack, and a program whose table has a row for
 * each way to find a caller, in this test's own memory.
 *
 *     stand_at(CODE_AT + PLAIN_AT);
 *     stack[1] = IN_ROOT;
 *     run();
 *     reaches_the_root(2, 0);
 *
 * It defines the two functions that the walk needs, and includes unwind.h itself.
 */
#pragma once

#include "support/test.h"
#include "unwind/unwind_file.h"
#include "unwind/unwind_writer_internal.h"

struct unwind_cached_rule;
static inline struct unwind_cached_rule *rule_cache_slot(uint64_t number);

#define UNWIND_RULE_CACHE_SLOT rule_cache_slot
#include "bpf/unwind.h"

#include <stdlib.h>

enum {
	STACK_AT = 0x7ff0000,
	STACK_WORDS = 512,
	CODE_AT = 0x500000, /* in memory; of which 0x100000 is the bias */
	BIAS = 0x100000,
	CODE_BYTES = 0x1000,
	OTHER_AT = 0x600000, /* a mapping without a loaded table */
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
static struct unwind walker;
static struct unwind_cached_rule seen[UNWIND_RULE_CACHE_SIZE];
static uint64_t called_from, called_from_too; /* the places in memory where a call ends */

#if defined(__TARGET_ARCH_arm64)
#define CALL "\0\0\0\0\x40\x01\x3f\xd6" /* blr x10 */
#else
#define CALL "\0\0\0\0\0\x41\xff\xd2" /* call *%r10 */
#endif

static inline bool unwind_read_user(struct unwind *walk, void *to, uint32_t bytes, uint64_t from)
{
	assert_ptr_equal(walk, &walker);
	reads++;
	if (bytes == sizeof(uint64_t) &&
	    (from + bytes == called_from || from + bytes == called_from_too)) {
		memcpy(to, CALL, bytes);
		return true;
	}
	if (from < STACK_AT || from > STACK_AT + sizeof(stack) ||
	    STACK_AT + sizeof(stack) - from < bytes)
		return false;
	memcpy(to, (char *)stack + (from - STACK_AT), bytes);
	return true;
}

static inline struct unwind_cached_rule *rule_cache_slot(uint64_t number)
{
	assert_in_range(number, 0, UNWIND_RULE_CACHE_SIZE - 1);
	return &seen[number];
}

static inline const uint8_t *unwind_page(struct unwind *walk, uint64_t number)
{
	assert_ptr_equal(walk, &walker);
	return number < PAGES && has_page[number] ? pages[number] : NULL;
}

static inline void put_pages(uint32_t first, str bytes)
{
	assert_true(first + bytes.len / UNWIND_PAGE_BYTES <= PAGES);
	memcpy(pages[first], bytes.ptr, bytes.len);
	for (size_t i = 0; i < bytes.len / UNWIND_PAGE_BYTES; i++)
		has_page[first + i] = true;
}

/* A table of these rows, the last of which ends at `end`. */
static inline void put_table(uint32_t first, const struct row *rows, size_t count, uint32_t end,
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

static inline void put_list(const struct unwind_mapping *mappings, size_t count)
{
	memcpy(pages[LIST], mappings, count * sizeof(*mappings));
	for (size_t i = 0; i * UNWIND_PAGE_BYTES < count * sizeof(*mappings); i++)
		has_page[LIST + i] = true;
	process.count = (uint32_t)count;
}

/* A process of a program with a table of its own, and what else there is. */
static inline void set_up(const struct row *rows, size_t count)
{
	const struct unwind_mapping list[] = {
		{ CODE_AT, CODE_AT + CODE_BYTES, BIAS, TABLE, 0 },
		{ OTHER_AT, OTHER_AT + CODE_BYTES, 0, 0, 0 },
		{ JIT_AT, JIT_AT + CODE_BYTES, 0, 0, UNWIND_MAPPING_ANONYMOUS },
		{ GO_AT, GO_AT + CODE_BYTES, GO_AT - (CODE_AT - BIAS), GO_TABLE, 0 },
	};

	called_from = called_from_too = 0;
	memset(stack, 0, sizeof(stack));
	memset(has_page, 0, sizeof(has_page));
	memset(&walker, 0xee, sizeof(walker));
	memset(seen, 0, sizeof(seen));
	registers = (struct sample_registers){ .pc = CODE_AT };
	registers.general[SP] = STACK_AT;
	put_list(list, ARRAY_LEN(list));
	put_table(TABLE, rows, count, CODE_BYTES, 0);
}

static inline void run_of(const struct unwind_process *of)
{
	frame_count = reads = 0;
	walker.now = registers;
	unwind_begin(&walker, of);
	while (walker.end == USER_END_NONE && frame_count < FRAMES_MAX) {
		unwind_step(&walker);
		frames[frame_count++] = walker.shown;
	}
}

static inline void run(void)
{
	run_of(&process);
}

/* Words above the stack pointer of the leaf. */
static inline uint64_t at(size_t word)
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

static inline void stand_at(uint64_t pc)
{
	set_up(program, ARRAY_LEN(program));
	registers.pc = pc;
}

static inline void reaches_the_root(uint32_t count, uint32_t flags)
{
	assert_int_equal(walker.end, USER_END_COMPLETE);
	assert_int_equal(frame_count, count);
	assert_int_equal(frames[0], registers.pc);
	assert_int_equal(frames[count - 1], IN_ROOT);
	assert_int_equal(walker.flags, flags);
}

static inline void ends(enum user_end end, uint32_t count)
{
	assert_int_equal(walker.end, end);
	assert_int_equal(frame_count, count);
}
