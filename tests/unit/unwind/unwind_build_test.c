// SPDX-License-Identifier: Apache-2.0
#include "elf/limits.h"
#include "support/cfi_maker.h"
#include "support/test.h"
#include "unwind/unwind_build.h"
#include "unwind/unwind_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>

enum { FRAMES_AT = 0x20000, SECTIONS = 4, EXTRA_NAME = 32 };

/* A program with one function (push %rbp, ...): only its tables. */
struct program {
	uint16_t machine;
	uint8_t class;
	uint64_t code_bytes;
	bool has_sections;
	bool has_header; /* PT_GNU_EH_FRAME */
	uint8_t header_version;
	bool header_is_cut;
	const char *frames_name;
	str frames;
	const char *code_name; /* name of a code section; NULL: none */
	uint64_t code_at, code_len, entry;
	str code; /* its contents */
};

static struct program usual(struct cfi_maker *maker)
{
	cfi_usual_add(maker);
	cfi_function_add(maker, CODE_AT, 32, BYTES("\x41\x0e\x10\x86\x02"));
	return (struct program){
		.machine = EM_X86_64,
		.class = ELFCLASS64,
		.code_bytes = CODE_BYTES,
		.has_sections = true,
		.frames_name = ".eh_frame",
		.frames = buf_bytes(&maker->bytes),
	};
}

/* Headers, .eh_frame_hdr, the frames, names, sections; the code is zeros. */
static int program_fd(const struct program *program)
{
	enum { HEADER_BYTES = 16, NAMES_AT = 0x1f000 };
	int fd = memfd_create("elf", MFD_CLOEXEC);
	uint64_t file_bytes = FRAMES_AT + program->frames.len + 0x1000;
	uint64_t sections_at = FRAMES_AT + program->frames.len + 8 - program->frames.len % 8;
	char names[64] = "";
	uint8_t header[HEADER_BYTES] = {
		program->header_version, 0x03, 0xff, 0xff, 0, 0, 2, 0
	}; /* udata4 */
	Elf64_Ehdr head = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, program->class, ELFDATA2LSB, 1 },
		.e_type = ET_DYN,
		.e_machine = program->machine,
		.e_version = 1,
		.e_entry = program->entry,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = program->has_header ? 3 : 2,
		.e_shoff = program->has_sections ? sections_at : 0,
		.e_shentsize = program->has_sections ? sizeof(Elf64_Shdr) : 0,
		.e_shnum = program->has_sections ? SECTIONS : 0,
		.e_shstrndx = program->has_sections ? 2 : 0,
	};
	Elf64_Phdr segments[] = {
		{ PT_LOAD, PF_R | PF_X, CODE_AT, CODE_AT, CODE_AT, program->code_bytes,
		  program->code_bytes, 1 },
		{ PT_LOAD, PF_R, FRAMES_AT, FRAMES_AT, FRAMES_AT, program->frames.len + 4,
		  program->frames.len + 4, 1 },
		{ PT_GNU_EH_FRAME, PF_R, NAMES_AT + 64, NAMES_AT + 64, NAMES_AT + 64, HEADER_BYTES,
		  HEADER_BYTES, 1 },
	};
	Elf64_Shdr sections[SECTIONS] = {
		{ 0 },
		{ .sh_name = 1,
		  .sh_type = SHT_PROGBITS,
		  .sh_addr = FRAMES_AT,
		  .sh_offset = FRAMES_AT,
		  .sh_size = program->frames.len },
		{ .sh_type = SHT_STRTAB, .sh_offset = NAMES_AT, .sh_size = sizeof(names) },
		{ .sh_name = EXTRA_NAME,
		  .sh_type = program->code_name ? SHT_PROGBITS : SHT_NULL,
		  .sh_addr = program->code_at,
		  .sh_offset = program->code_at,
		  .sh_size = program->code_len },
	};

	if (program->header_is_cut)
		segments[2].p_offset = file_bytes - 1;
	strncpy(names + 1, program->frames_name, EXTRA_NAME - 2);
	if (program->code_name)
		strncpy(names + EXTRA_NAME, program->code_name, EXTRA_NAME - 1);
	assert_int_equal(ftruncate(fd, (off_t)file_bytes), 0);
	assert_int_equal(pwrite(fd, &head, sizeof(head), 0), sizeof(head));
	assert_int_equal(pwrite(fd, segments, sizeof(segments), sizeof(head)), sizeof(segments));
	assert_int_equal(pwrite(fd, names, sizeof(names), NAMES_AT), sizeof(names));
	assert_int_equal(pwrite(fd, header, sizeof(header), NAMES_AT + 64), sizeof(header));
	if (program->code.len)
		assert_int_equal(
			pwrite(fd, program->code.ptr, program->code.len, (off_t)program->code_at),
			(ssize_t)program->code.len);
	assert_int_equal(pwrite(fd, program->frames.ptr, program->frames.len, FRAMES_AT),
			 (ssize_t)program->frames.len);
	assert_int_equal(pwrite(fd, sections, sizeof(sections), (off_t)sections_at),
			 sizeof(sections));
	return fd;
}

static enum unwind_build_reason build(const struct program *program, uint64_t memory_max,
				      struct unwind_file *file)
{
	AUTO_FD fd = program_fd(program), out = memfd_create("table", MFD_CLOEXEC);
	struct unwind_build_result result;
	struct err err = { 0 };

	if (!unwind_build(&(struct unwind_build_options){ .memory_max = memory_max }, fd, out,
			  &result, &err)) {
		assert_true(err.code != ERR_NONE);
		assert_int_not_equal(result.reason, UNWIND_BUILT);
		assert_int_equal(lseek(out, 0, SEEK_END), 0);
		return result.reason;
	}
	assert_int_equal(lseek(out, 0, SEEK_END), result.bytes);
	if (file && !unwind_file_open(file, out, &err))
		fail_msg("%s", err.msg);
	return result.reason;
}

static void assert_usual(const struct program *program)
{
	struct unwind_file file = { 0 };
	struct unwind_rule rule;

	if (build(program, 0, &file) != UNWIND_BUILT || !file.header)
		return fail();
	assert_int_equal(file.header->row_count, 2);
	assert_true(unwind_file_find(&file, CODE_AT + 31, &rule));
	assert_int_equal(rule.cfa_offset, 16);
	assert_int_equal(rule.frame_pointer_offset, -16);
	assert_false(unwind_file_find(&file, CODE_AT + 32, &rule));
	unwind_file_close(&file);
}

static void finds_eh_frame_by_its_section(void **state)
{
	AUTO_CFI_MAKER *eh = cfi_maker_new(true), *debug = cfi_maker_new(false);
	struct program program = usual(eh), other = usual(debug);

	(void)state;
	assert_usual(&program);
	other.frames_name = ".debug_frame";
	assert_usual(&other);
}

static void finds_eh_frame_without_sections(void **state)
{
	AUTO_CFI_MAKER *maker = cfi_maker_new(true);
	struct program program = usual(maker);

	(void)state;
	/* The bytes after the terminator are not entries. */
	buf_u32(&maker->bytes, 0);
	cfi_function_add(maker, CODE_AT + 64, 32, BYTES(""));
	program.frames = buf_bytes(&maker->bytes);
	program.has_sections = false;
	program.has_header = true;
	program.header_version = 1;
	assert_usual(&program);
	program.header_version = 2;
	assert_int_equal(build(&program, 0, NULL), UNWIND_NO_ROWS);
	program.header_is_cut = true;
	assert_int_equal(build(&program, 0, NULL), UNWIND_MALFORMED);
}

static void a_debug_frame_that_cannot_be_decompressed_is_malformed(void **state)
{
	AUTO_CFI_MAKER *maker = cfi_maker_new(false);
	struct program program = usual(maker);

	(void)state;
	program.frames_name = ".zdebug_frame";
	program.frames = STR("ZLIB\0\0\0\0\0\0\0\x10garbage");
	assert_int_equal(build(&program, 0, NULL), UNWIND_MALFORMED);
	program.frames = STR("ZLIB\x7f\0\0\0\0\0\0\x10garbage");
	assert_int_equal(build(&program, 0, NULL), UNWIND_TOO_LARGE);
}

static void reports_the_reason_of_each_failure(void **state)
{
	AUTO_CFI_MAKER *maker = cfi_maker_new(true);
	struct program program = usual(maker), other = program;

	(void)state;
	other.frames_name = ".other";
	assert_int_equal(build(&other, 0, NULL), UNWIND_NO_ROWS);
	other = program;
	other.machine = EM_386;
	assert_int_equal(build(&other, 0, NULL), UNWIND_WRONG_MACHINE);
	other = program;
	other.class = 7;
	assert_int_equal(build(&other, 0, NULL), UNWIND_MALFORMED);
	other = program;
	other.code_bytes = 5ULL << 30;
	assert_int_equal(build(&other, 0, NULL), UNWIND_TOO_LARGE);
	assert_int_equal(build(&program, 1, NULL), UNWIND_TOO_LARGE);
}

static struct unwind_rule rule_at(const struct program *program, uint64_t address)
{
	struct unwind_file file = { 0 };
	struct unwind_rule rule = { 0 };

	assert_int_equal(build(program, 0, &file), UNWIND_BUILT);
	if (!unwind_file_find(&file, address, &rule))
		rule.cfa = UNWIND_CFA_NONE;
	unwind_file_close(&file);
	return rule;
}

static void adds_rows_for_stubs_without_unwind_information(void **state)
{
	AUTO_CFI_MAKER *maker = cfi_maker_new(true);
	struct program program = usual(maker);
	struct unwind_rule rule;
	char marked[32] = { 0 };

	(void)state;
	program.code_at = CODE_AT + 0x100;
	program.code_len = 64;
	program.code_name = ".plt";
	assert_int_equal(rule_at(&program, CODE_AT + 0x100).cfa, UNWIND_CFA_NONE);
	rule = rule_at(&program, CODE_AT + 0x110);
	assert_int_equal(rule.cfa, UNWIND_CFA_PLT);
	assert_int_equal(rule.cfa_offset, 11);
	assert_int_equal(rule_at(&program, CODE_AT + 0x13f).cfa, UNWIND_CFA_PLT);
	assert_int_equal(rule_at(&program, CODE_AT + 0x140).cfa, UNWIND_CFA_NONE);

	memcpy(marked + 16, "\xf3\x0f\x1e\xfa", 4);
	program.code = (str){ marked, sizeof(marked) };
	assert_int_equal(rule_at(&program, CODE_AT + 0x110).cfa_offset, 9);

	program.code_name = ".plt.sec";
	rule = rule_at(&program, CODE_AT + 0x100);
	assert_int_equal(rule.cfa, UNWIND_CFA_REGISTER);
	assert_int_equal(rule.cfa_offset, 8);

	program.machine = EM_AARCH64;
	program.code_name = ".plt";
	assert_int_equal(rule_at(&program, CODE_AT + 0x11f).cfa, UNWIND_CFA_NONE);
	rule = rule_at(&program, CODE_AT + 0x120);
	assert_int_equal(rule.cfa_register, 31);
	assert_int_equal(rule.return_address, UNWIND_SAVED_SAME);
}

/* push %rbx; mov %rsp, %rbx; ...; call of a function that pushes %rbp and %rbx. */
static struct program with_a_call(struct cfi_maker *maker, str callee)
{
	static const char code[] = "\x53\x48\x89\xe3\x90\x90\x90\x90\xe8\x33\0\0\0\xc3";

	cfi_usual_add(maker);
	cfi_function_add(maker, CODE_AT, 32, BYTES("\x41\x0e\x10\x83\x02\x43\x0d\x03"));
	cfi_function_add(maker, CODE_AT + 0x40, 0x200, callee);
	return (struct program){
		.machine = EM_X86_64,
		.class = ELFCLASS64,
		.code_bytes = CODE_BYTES,
		.has_sections = true,
		.frames_name = ".eh_frame",
		.frames = buf_bytes(&maker->bytes),
		.code_at = CODE_AT,
		.code = { code, sizeof(code) - 1 },
	};
}

static void finds_a_frame_by_the_register_that_the_called_function_saves(void **state)
{
	AUTO_CFI_MAKER *maker = cfi_maker_new(true);
	struct program program =
		with_a_call(maker, BYTES("\x41\x0e\x10\x86\x02\x41\x0e\x18\x83\x03\x44\x0e\x30"));
	const struct unwind_rule by_register = {
		UNWIND_CFA_REGISTER, 3, 0, UNWIND_SAVED_AT_CFA, 16, 0, 0, -8
	};
	const struct unwind_rule by_callee = {
		UNWIND_CFA_DEREF, 7, 0, UNWIND_SAVED_AT_CFA, -24, 16, 0, -8
	};
	struct unwind_rule rule;

	(void)state;
	/* The leaf is at the first byte of the call; a return address - 1 is its last. */
	for (uint64_t at = 4; at < 32; at++) {
		rule = rule_at(&program, CODE_AT + at);
		assert_memory_equal(&rule, at > 8 && at < 13 ? &by_callee : &by_register,
				    sizeof(rule));
	}
}

static void a_register_that_the_called_function_may_not_have_saved_is_unknown(void **state)
{
	const str callees[] = {
		BYTES("\x41\x0e\x10\x86\x02"),     /* not saved */
		BYTES("\x02\x50\x0e\x10\x83\x02"), /* only after 80 bytes */
		BYTES("\x41\x83\x02\x41\x83\x03"), /* at two places */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(callees); i++) {
		AUTO_CFI_MAKER *maker = cfi_maker_new(true);
		struct program program = with_a_call(maker, callees[i]);

		assert_int_equal(rule_at(&program, CODE_AT + 12).cfa, UNWIND_CFA_REGISTER);
	}
}

static void follows_a_bounded_number_of_calls(void **state)
{
	enum { CALLS = UNWIND_CALLS_MAX + 1, AT = CODE_AT + 0x1000 };
	AUTO_CFI_MAKER *maker = cfi_maker_new(true);
	static char code[CALLS * 5];
	struct program program = with_a_call(maker, BYTES("\x41\x0e\x10\x83\x02"));

	(void)state;
	cfi_function_add(maker, AT, sizeof(code), BYTES("\x0c\x03\x18"));
	program.frames = buf_bytes(&maker->bytes);
	program.code_at = AT;
	program.code = (str){ code, sizeof(code) };
	for (int32_t i = 0; i < CALLS; i++) {
		int32_t to = CODE_AT + 0x40 - (AT + 5 * i + 5);

		code[5 * i] = (char)0xe8;
		memcpy(code + 5 * i + 1, &to, sizeof(to));
	}
	assert_int_equal(rule_at(&program, AT + 4).cfa, UNWIND_CFA_DEREF);
	assert_int_equal(rule_at(&program, AT + 5 * UNWIND_CALLS_MAX - 1).cfa, UNWIND_CFA_DEREF);
	assert_int_equal(rule_at(&program, AT + 5 * UNWIND_CALLS_MAX + 4).cfa, UNWIND_CFA_REGISTER);
}

static void ignores_stubs_outside_of_code(void **state)
{
	AUTO_CFI_MAKER *maker = cfi_maker_new(true);
	struct program program = usual(maker);

	(void)state;
	program.code_at = FRAMES_AT;
	program.code_len = 64;
	program.code_name = ".plt";
	assert_int_equal(rule_at(&program, FRAMES_AT + 0x10).cfa, UNWIND_CFA_NONE);
	program.code_at = CODE_AT + CODE_BYTES - 64;
	program.code_bytes = CODE_BYTES + 0x1000;
	assert_int_equal(rule_at(&program, CODE_AT + CODE_BYTES - 1).cfa, UNWIND_CFA_PLT);
}

static void the_entry_point_is_a_root(void **state)
{
	AUTO_CFI_MAKER *maker = cfi_maker_new(true);
	struct program program = usual(maker);

	(void)state;
	program.entry = CODE_AT + 0x200;
	assert_int_equal(rule_at(&program, CODE_AT + 0x21f).return_address, UNWIND_SAVED_UNDEFINED);
	assert_int_equal(rule_at(&program, CODE_AT + 0x220).cfa, UNWIND_CFA_NONE);
}

static void finds_the_return_from_signals_by_its_bytes(void **state)
{
	const struct {
		uint16_t machine;
		str code;
	} cases[] = {
		{ EM_X86_64, STR("\x48\xc7\xc0\x0f\0\0\0\x0f\x05") },
		{ EM_X86_64, STR("\xb8\x0f\0\0\0\x0f\x05") },
		{ EM_AARCH64, STR("\x68\x11\x80\xd2\x01\0\0\xd4") },
	};
	/* Also across two blocks of the search. */
	const uint64_t places[] = { CODE_AT + 0x333, CODE_AT + 0x7ffc };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases) * ARRAY_LEN(places); i++) {
		AUTO_CFI_MAKER *maker = cfi_maker_new(true);
		struct program program = usual(maker);
		uint64_t at = places[i / ARRAY_LEN(cases)];

		program.machine = cases[i % ARRAY_LEN(cases)].machine;
		program.code = cases[i % ARRAY_LEN(cases)].code;
		program.code_at = at;
		program.entry = CODE_AT + 0x200;
		assert_int_equal(rule_at(&program, at - 2).cfa, UNWIND_CFA_NONE);
		assert_int_equal(rule_at(&program, at - 1).cfa, UNWIND_CFA_SIGNAL);
		assert_int_equal(rule_at(&program, at + program.code.len - 1).cfa,
				 UNWIND_CFA_SIGNAL);
		assert_int_equal(rule_at(&program, at + program.code.len).cfa, UNWIND_CFA_NONE);
	}
}

static void go_code_without_rows_keeps_the_frame_pointer(void **state)
{
	struct program program = {
		.machine = EM_X86_64,
		.class = ELFCLASS64,
		.code_bytes = CODE_BYTES,
		.has_sections = true,
		.frames_name = ".go.buildinfo",
		.frames = STR("Go"),
		.code_name = ".text",
		.code_at = CODE_AT,
		.code_len = 0x1000,
	};
	struct unwind_file file = { 0 };

	(void)state;
	assert_int_equal(rule_at(&program, CODE_AT + 0xfff).cfa, UNWIND_CFA_FRAME_POINTER);
	if (build(&program, 0, &file) != UNWIND_BUILT || !file.header)
		return fail();
	assert_int_equal(file.header->flags, UNWIND_TABLE_GO);
	unwind_file_close(&file);
}

static void reports_a_failed_read_or_write(void **state)
{
	AUTO_CFI_MAKER *maker = cfi_maker_new(true);
	struct program program = usual(maker);
	AUTO_FD fd = program_fd(&program), none = open("/dev/null", O_RDONLY | O_CLOEXEC);
	AUTO_FD full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct unwind_build_result result;
	const struct unwind_build_options options = { 0 };
	struct err err = { 0 };

	(void)state;
	assert_false(unwind_build(&options, fd, none, &result, &err));
	assert_int_equal(result.reason, UNWIND_IO);
	assert_false(unwind_build(&options, fd, full, &result, &err));
	assert_int_equal(result.reason, UNWIND_IO);
	assert_false(unwind_build(&options, none, full, &result, &err));
	assert_int_equal(result.reason, UNWIND_MALFORMED);
}

static void every_reason_has_a_name(void **state)
{
	(void)state;
	for (int i = 0; i < UNWIND_BUILD_REASON_COUNT; i++)
		assert_non_null(unwind_build_reason_names[i]);
}

RUN_TESTS(TEST(a_debug_frame_that_cannot_be_decompressed_is_malformed),
	  TEST(finds_eh_frame_by_its_section), TEST(finds_eh_frame_without_sections),
	  TEST(reports_the_reason_of_each_failure),
	  TEST(adds_rows_for_stubs_without_unwind_information), TEST(the_entry_point_is_a_root),
	  TEST(finds_a_frame_by_the_register_that_the_called_function_saves),
	  TEST(a_register_that_the_called_function_may_not_have_saved_is_unknown),
	  TEST(follows_a_bounded_number_of_calls), TEST(ignores_stubs_outside_of_code),
	  TEST(finds_the_return_from_signals_by_its_bytes),
	  TEST(go_code_without_rows_keeps_the_frame_pointer), TEST(reports_a_failed_read_or_write),
	  TEST(every_reason_has_a_name))
