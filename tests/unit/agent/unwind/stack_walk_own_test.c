// SPDX-License-Identifier: Apache-2.0
/*
 * This program's own stacks, as they would be shipped; libgcc's unwinder walks them too
 * (backtrace()).
 */
#include "agent/process/proc_maps_internal.h"
#include "elf/elf_file.h"
#include "support/stack_walk_stand.h"
#include "unwind/unwind_build.h"
#include "unwind/unwind_file.h"

#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { MAPPINGS = 64, MAPS_BYTES = 1 << 16 };

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
	uint64_t bytes = SAMPLE_STACK_BYTES_MAX - from % SAMPLE_STACK_PIECE;

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
 * libgcc reports the frame that a signal interrupted, and the signal's, with their exact addresses.
 * Under sanitizers its first frame is theirs.
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

RUN_TESTS(TEST(walks_this_programs_own_stacks_as_libgcc_does))
