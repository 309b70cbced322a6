// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks that travelled: drawn up by hand, and this program's own, which libgcc's unwinder walks
 * beside us (backtrace()).
 */
#include "object/elf_file.h"
#include "object/unwind_build.h"
#include "object/unwind_file.h"
#include "object/unwind_writer.h"
#include "proc_maps.h"
#include "sample_parse.h"
#include "stack_walk.h"
#include "test.h"

#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { RBP = 6, RSP = 7, PAGES_MAX = 4096, MAPPINGS = 64, STACK = 0x7000, MAPS_BYTES = 1 << 16 };

static const uint8_t *pages[PAGES_MAX];
static uint32_t page_count = 1;
static struct stack_walk walk;

/* A record as it comes out of the ring, with room for all that it may hold. */
static union {
	struct sample_record record;
	uint8_t bytes[SAMPLE_BYTES_MAX];
} sent;

static const uint8_t *page_of(void *self, uint64_t number)
{
	(void)self;
	return number < page_count ? pages[number] : NULL;
}

static const struct unwind_space space = { .page = page_of };

static void set_up(void)
{
	walk = (struct stack_walk){ 0 };
	memset(&sent, 0, sizeof(sent));
}

/* The number of the first of these pages. */
static uint32_t add_pages(const uint8_t *first, size_t count)
{
	uint32_t number = page_count;

	assert_true(page_count + count <= PAGES_MAX);
	for (size_t i = 0; i < count; i++)
		pages[page_count++] = first + i * UNWIND_PAGE_BYTES;
	return number;
}

/*
 * By hand: a program at 0x400000, whose functions are 0x100 bytes long and have frames of 16 bytes;
 * from 0x400400 on is its root, and 0x400500 tells no row.
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

/* A record whose walk in BPF found these frames, leaf first, and its stack. */
static const struct sample_record *travel(const uint64_t *found, uint16_t found_count,
					  enum user_end end, const uint64_t *stack,
					  uint16_t stack_bytes)
{
	struct sample_registers registers = { .pc = found[0] };

	registers.general[RSP] = STACK;
	registers.general[RBP] = 8; /* no frame pointer: leads nowhere, and is not the root's 0 */
	sent.record.kernel_frames = 1;
	sent.record.user_frames = found_count;
	sent.record.user_end = (uint16_t)end;
	sent.record.stack_bytes = stack_bytes;
	sent.record.flags = SAMPLE_STACK_TRAVELS | SAMPLE_FRAME_POINTERS;
	sent.record.frames[0] = 0xffffffff81000000;
	memcpy(sent.record.frames + 1, found, found_count * sizeof(*found));
	memcpy(sent.bytes + sample_tail_at(&sent.record), &registers, sizeof(registers));
	memcpy(sent.bytes + sample_tail_at(&sent.record) + sizeof(registers), stack, stack_bytes);
	assert_ptr_equal(sample_parse(&sent, sample_bytes(&sent.record)), &sent.record);
	return &sent.record;
}

/* The list has a page of its own for as long as the walk takes: a search may look at all of it. */
static const struct sample_record *walk_with(const struct sample_record *record,
					     const struct unwind_mapping *mappings, size_t count)
{
	static union {
		struct unwind_mapping list[UNWIND_PAGE_BYTES / sizeof(struct unwind_mapping)];
		uint8_t bytes[UNWIND_PAGE_BYTES];
	} listed;
	uint32_t page = add_pages(listed.bytes, 1);

	assert_in_range(count, 0, ARRAY_LEN(listed.list));
	memcpy(listed.list, mappings, count * sizeof(*mappings));

	const struct sample_record *again = stack_walk_again(
		&walk, record,
		(struct stack_walk_list){ (uint64_t)page * UNWIND_PAGE_BYTES, (uint32_t)count },
		space);

	page_count--;
	return again;
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
		walk_by_hand(travel(found, 1, USER_END_NO_TABLE, stack, sizeof(stack)));

	assert_user_frames(again, frames, ARRAY_LEN(frames));
	assert_int_equal(again->user_end, USER_END_COMPLETE);
	assert_int_equal(again->flags & SAMPLE_FRAME_POINTERS, 0);
	assert_int_equal(again->stack_bytes, sizeof(stack));
	assert_int_equal(walk.walked, 1);
	assert_int_equal(walk.missing, 0);
}

static void replaces_frames_that_were_astray(void **state)
{
	static const uint64_t stack[] = { 1, CODE + 0x410, 2, 3 };
	static const uint64_t found[] = { CODE + 0x20, CODE + 0x333, CODE + 0x222, 0x1234 };
	static const uint64_t frames[] = { CODE + 0x20, CODE + 0x410 };
	AUTO_ARENA arena = { 0 };

	(void)state;
	set_up();
	draw_table(&arena);

	const struct sample_record *again =
		walk_by_hand(travel(found, 4, USER_END_COMPLETE, stack, sizeof(stack)));

	assert_user_frames(again, frames, ARRAY_LEN(frames));
	assert_int_equal(again->user_end, USER_END_COMPLETE);
}

static void says_how_the_walk_ended(void **state)
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
			walk_by_hand(travel(&found, 1, USER_END_NO_TABLE, stack, sizeof(stack)));

		assert_ptr_not_equal(again, &sent.record);
		assert_int_equal(again->user_end, rows[i].end);
		assert_int_equal(again->user_frames, rows[i].frames);
	}
}

static void keeps_what_frame_pointers_found_where_no_table_is(void **state)
{
	static const uint64_t stack[] = { 1, TABLELESS + 0x20 };
	static const uint64_t found[] = { CODE + 0x20, TABLELESS + 0x20, TABLELESS + 0x30 };
	AUTO_ARENA arena = { 0 };

	(void)state;
	set_up();
	draw_table(&arena);

	const struct sample_record *record =
		travel(found, 3, USER_END_COMPLETE, stack, sizeof(stack));

	assert_ptr_equal(walk_by_hand(record), record);
	assert_int_equal(walk.kept, 1);
	assert_int_equal(walk.missing, TABLELESS + 0x20 - 1); /* whose table would lead on */
}

/* The code that is looked at there does not travel. */
static void keeps_what_was_guessed_in_generated_code(void **state)
{
	static const uint64_t stack[] = { 1, GENERATED + 0x20, 0x1234, CODE + 0x410 };
	static const uint64_t found[] = { CODE + 0x20, GENERATED + 0x20, CODE + 0x410 };
	static const uint64_t others[] = { CODE + 0x20, GENERATED + 0x40, CODE + 0x410 };
	const struct sample_record *record;
	AUTO_ARENA arena = { 0 };

	(void)state;
	set_up();
	draw_table(&arena);
	record = travel(found, 3, USER_END_COMPLETE, stack, sizeof(stack));
	assert_ptr_equal(walk_by_hand(record), record);

	record = travel(others, 3, USER_END_COMPLETE, stack, sizeof(stack));
	assert_int_equal(walk_by_hand(record)->user_frames, 2); /* that came there by mistake */
}

/* The stack begins in the middle of a page: three pieces are less than three pages. */
static void a_stack_longer_than_what_travels_is_too_deep(void **state)
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
		walk_by_hand(travel(&found, 1, USER_END_NO_TABLE, stack, BYTES));

	assert_int_equal(again->user_end, USER_END_TOO_DEEP);
	assert_int_equal(again->user_frames, USER_FRAMES_MAX);

	sent.record.stack_bytes = 0;
	again = walk_by_hand(travel(&found, 1, USER_END_NO_TABLE, stack, 4096));
	assert_int_equal(again->user_end, USER_END_READ_FAULT);
	assert_int_equal(again->user_frames, 4096 / 16 + 1);
}

/* This program's own stack. */
static struct unwind_mapping own[MAPPINGS];
static size_t own_count;
static uint64_t stack_end;

static void add_own(const struct proc_map *map)
{
	struct unwind_build_options options = { 0 };
	struct unwind_build_result result;
	struct elf_file elf;
	struct unwind_file file;
	struct err err = { 0 };
	AUTO_ARENA arena = { 0 };
	AUTO_FD fd = open(str_z(&arena, map->path), O_RDONLY | O_CLOEXEC);
	AUTO_FD table = memfd_create("table", MFD_CLOEXEC);
	uint64_t address;

	if (fd < 0 || !unwind_build(&options, fd, table, &result, &err))
		return;
	assert_true(unwind_file_open(&file, table, &err)); /* it stays mapped to the end */
	assert_true(elf_file_read(&elf, fd, &err));
	assert_true(elf_file_address(elf.segments, elf.segment_count, map->file_offset, &address));
	assert_true(own_count < MAPPINGS);
	own[own_count++] =
		(struct unwind_mapping){ .start = map->start,
					 .end = map->end,
					 .bias = map->start - address,
					 .table = add_pages(file.pages, file.page_count) };
}

static void read_own(void)
{
	static char text[MAPS_BYTES];
	AUTO_FD fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;
	struct proc_map map;

	while ((n = read(fd, text + len, sizeof(text) - len)) > 0)
		len += (size_t)n;

	str rest = { text, len };
	size_t at = str_find(rest, STR("[stack]"));

	assert_true(at != SIZE_MAX);
	while (at > 0 && text[at - 1] != '\n')
		at--;

	str line = str_skip(rest, at);

	str_cut(&line, '-');
	assert_true(str_hex_to_u64(str_cut(&line, ' '), &stack_end));
	page_count = 1;
	own_count = 0;
	while (proc_maps_next(&rest, &map))
		if (str_starts_with(map.path, STR("/")))
			add_own(&map);
}

static void *traced[USER_FRAMES_MAX];
static int traced_count;

/* As BPF does, piece by piece; the sanitizers see reads of other functions' variables. */
__attribute__((no_sanitize("address", "undefined"))) static void copy_stack(uint8_t *to,
									    uint64_t from)
{
	uint64_t bytes = SAMPLE_STACK_PIECE - from % SAMPLE_STACK_PIECE + 2 * SAMPLE_STACK_PIECE;

	if (from + bytes > stack_end)
		bytes = stack_end - from;
	for (uint64_t i = 0; i < bytes; i++)
		to[i] = ((const volatile uint8_t *)(uintptr_t)from)[i];
	sent.record.stack_bytes = (uint16_t)bytes;
}

/* Here both look at the stack. */
__attribute__((noinline)) static void look(void)
{
	/* In the order of ucontext: by DWARF number. */
	static const int numbers[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				       REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
				       REG_R12, REG_R13, REG_R14, REG_R15 };
	static ucontext_t context;
	struct sample_registers registers = { 0 };

	getcontext(&context);
	traced_count = backtrace(traced, USER_FRAMES_MAX);
	registers.pc = (uint64_t)context.uc_mcontext.gregs[REG_RIP];
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		registers.general[i] = (uint64_t)context.uc_mcontext.gregs[numbers[i]];
	sent.record.user_frames = 1;
	sent.record.user_end = USER_END_NO_TABLE;
	sent.record.frames[0] = registers.pc;

	uint8_t *tail = sent.bytes + sample_tail_at(&sent.record);

	memcpy(tail, &registers, sizeof(registers));
	copy_stack(tail + sizeof(registers), registers.general[RSP]);
}

static void on_signal(int number)
{
	(void)number;
	look();
}

static int compare(const void *a, const void *b)
{
	if (traced_count == 0)
		look();
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void through_libc(void)
{
	int numbers[] = { 3, 1, 2, 5 };

	qsort(numbers, ARRAY_LEN(numbers), sizeof(*numbers), compare);
	assert_int_equal(numbers[0], 1);
}

__attribute__((noinline)) static void through_a_signal(void)
{
	struct sigaction handle = { .sa_handler = on_signal }, before;

	sigaction(SIGUSR1, &handle, &before);
	raise(SIGUSR1);
	sigaction(SIGUSR1, &before, NULL);
}

/* How far the stack was moved to be aligned, only the frame pointer knows. */
__attribute__((noinline)) static void through_an_aligned_frame(void)
{
	_Alignas(256) volatile char aligned[256];

	aligned[0] = 1;
	look();
	aligned[1] = aligned[0];
}

/*
 * libgcc tells of a frame that a signal interrupted, and of the signal's, where they stand. Under
 * sanitizers its first frame is theirs.
 */
static void assert_same_as_libgcc(size_t interrupted)
{
	const struct sample_record *again = walk_with(&sent.record, own, own_count);
	size_t ahead = 0, skipped = (size_t)traced_count - again->user_frames;

	assert_int_equal(again->user_end, USER_END_COMPLETE);
	assert_in_range(skipped, 0, 1);
	for (size_t i = 1; i < again->user_frames; i++) {
		uint64_t off = again->frames[i] - (uint64_t)traced[skipped + i];

		assert_in_range(off, 0, 1);
		ahead += off;
	}
	assert_int_equal(ahead, interrupted);
}

static void walks_this_programs_own_stacks_as_libgcc_does(void **state)
{
	(void)state;
	read_own();

	set_up();
	look();
	assert_same_as_libgcc(0);

	set_up();
	traced_count = 0;
	through_libc();
	assert_same_as_libgcc(0);

	set_up();
	through_an_aligned_frame();
	assert_same_as_libgcc(0);

	set_up();
	through_a_signal();
	assert_same_as_libgcc(2);
}

static void takes_a_record_only_if_it_is_as_long_as_it_says(void **state)
{
	static const uint64_t stack[] = { 1, 2 };
	uint64_t found = CODE;

	(void)state;
	set_up();

	const struct sample_record *record =
		travel(&found, 1, USER_END_NO_TABLE, stack, sizeof(stack));
	size_t bytes = sample_bytes(record);

	for (size_t len = 0; len < bytes; len++)
		assert_null(sample_parse(record, len));
	assert_null(sample_parse(record, bytes + 8));
	assert_ptr_equal(sample_parse(record, bytes), record);
	sent.record.user_end = USER_END_COUNT;
	assert_null(sample_parse(record, bytes));
	sent.record.user_end = USER_END_NONE;
	sent.record.stack_bytes = SAMPLE_STACK_BYTES_MAX + 8;
	assert_null(sample_parse(record, sample_bytes(record)));

	sent.record.stack_bytes = 8;
	sent.record.flags = SAMPLE_CONTINUES; /* has a stack and nothing else */
	assert_null(sample_parse(record, sample_bytes(record)));
	sent.record.kernel_frames = sent.record.user_frames = 0;
	assert_ptr_equal(sample_parse(record, sample_bytes(record)), record);
	sent.record.stack_bytes = 0;
	assert_null(sample_parse(record, sample_bytes(record)));
}

RUN_TESTS(TEST(walks_by_the_rows_of_a_table_to_the_root), TEST(replaces_frames_that_were_astray),
	  TEST(says_how_the_walk_ended), TEST(keeps_what_frame_pointers_found_where_no_table_is),
	  TEST(keeps_what_was_guessed_in_generated_code),
	  TEST(a_stack_longer_than_what_travels_is_too_deep),
	  TEST(walks_this_programs_own_stacks_as_libgcc_does),
	  TEST(takes_a_record_only_if_it_is_as_long_as_it_says))
