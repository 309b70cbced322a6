// SPDX-License-Identifier: Apache-2.0
/*
 * Real binaries, compared with the output of readelf; and malformed files.
 */
#include "elf/elf_file.h"
#include "support/test.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/auxv.h>

static const char *const binaries[] = {
	"/proc/self/exe",
	"/bin/sh",
	"/usr/bin/python3",
	"/usr/bin/git",
	"/lib64/ld-linux-x86-64.so.2",
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
};

static FILE *readelf(const char *option, const char *path)
{
	char command[256];

	snprintf(command, sizeof(command), "readelf -W %s %s 2>/dev/null", option, path);
	return popen(command, "r"); /* NOLINT(cert-env33-c): a test, of fixed commands */
}

static bool open_binary(const char *path, struct elf_file *elf)
{
	struct err err = { 0 };
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && elf_file_read(elf, fd, &err);
}

static void finds_the_build_id_that_readelf_finds(void **state)
{
	size_t compared = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(binaries); i++) {
		AUTO_ARENA arena = { 0 };
		struct elf_file elf = { 0 };
		char line[1024];

		if (!open_binary(binaries[i], &elf))
			continue;

		str id = str_hex(&arena, (str){ (char *)elf.build_id, elf.build_id_len });
		char real[256] = "";
		ssize_t len = readlink(binaries[i], real, sizeof(real) - 1);
		FILE *out = readelf("-n", i == 0 && len > 0 ? real : binaries[i]);

		while (out && fgets(line, sizeof(line), out)) {
			str rest = str_from(line);
			size_t at = str_find(rest, STR("Build ID: "));

			if (at == SIZE_MAX)
				continue;
			rest = str_trim(str_skip(rest, at + 10));
			assert_true(str_eq(rest, id));
			compared++;
		}
		pclose(out);
	}
	assert_true(compared >= 4);
}

/*   LOAD           0x000000 0x0000000000000000 0x... 0x0345b8 0x0345b8 R E 0x1000 */
static void finds_the_segments_that_readelf_finds(void **state)
{
	size_t compared = 0;

	(void)state;
	for (size_t i = 1; i < ARRAY_LEN(binaries); i++) {
		struct elf_file elf = { 0 };
		char line[1024];
		size_t segment = 0;

		if (!open_binary(binaries[i], &elf))
			continue;

		FILE *out = readelf("-l", binaries[i]);

		while (out && fgets(line, sizeof(line), out)) {
			uint64_t offset, address, size;

			/* NOLINTNEXTLINE(cert-err34-c): readelf's own output */
			if (sscanf(line, " LOAD 0x%" SCNx64 " 0x%" SCNx64 " 0x%*x 0x%" SCNx64,
				   &offset, &address, &size) != 3)
				continue;
			assert_true(segment < elf.segment_count);
			assert_int_equal(elf.segments[segment].offset, offset);
			assert_int_equal(elf.segments[segment].address, address);
			assert_int_equal(elf.segments[segment].size, size);
			assert_int_equal(elf.segments[segment].executable,
					 strstr(line, " R E ") != NULL);
			segment++;
			compared++;
		}
		pclose(out);
		assert_int_equal(segment, elf.segment_count);
	}
	assert_true(compared >= 16);
}

static void reads_the_vdso_from_memory(void **state)
{
	struct elf_file elf = { 0 };
	struct err err = { 0 };
	const char *vdso = (const char *)getauxval(AT_SYSINFO_EHDR);

	(void)state;
	if (!vdso)
		skip();
	assert_true(elf_file_read_image(&elf, (str){ vdso, 4096 }, &err));
	assert_true(elf.build_id_len > 0);
	assert_true(elf.segment_count > 0);
}

static void turns_file_offsets_into_addresses_by_segment(void **state)
{
	/* Linked by lld: the address differs from the offset. */
	static const struct elf_segment segments[] = {
		{ .offset = 0, .size = 0x5f0, .address = 0 },
		{ .offset = 0x5f0, .size = 0x800, .address = 0x15f0, .executable = true },
		{ .offset = 0xdf0, .size = 0x100, .address = 0x2df0 },
	};
	static const struct {
		uint64_t offset, address;
		bool found;
	} rows[] = {
		{ 0x5f0, 0x15f0, true }, /* first byte of the text */
		{ 0xdef, 0x1def, true }, /* its last */
		{ 0x10, 0x10,
		  true }, /* exactly in a data segment, which wins over the page of the text */
		{ 0xe00, 0x2e00, true }, /* the same, after the text */
		{ 0xff8, 0x1ff8, true }, /* the end of the last page belongs to the text */
		{ 0x1000, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t address = 0;

		assert_int_equal(
			elf_file_address(segments, ARRAY_LEN(segments), rows[i].offset, &address),
			rows[i].found);
		assert_int_equal(address, rows[i].address);
	}
}

static void turns_addresses_into_file_offsets(void **state)
{
	static const struct elf_file elf = {
		.segments = { { .offset = 0, .size = 0x100, .address = 0x1000 },
			      { .offset = 0x100, .size = 0x80, .address = 0x3000 } },
		.segment_count = 2,
	};
	static const struct {
		uint64_t address, offset, left;
		bool found;
	} rows[] = {
		{ 0x1000, 0, 0x100, true }, { 0x10ff, 0xff, 1, true },
		{ 0x1100, 0, 0, false },    { 0x3010, 0x110, 0x70, true },
		{ 0xfff, 0, 0, false },     { UINT64_MAX, 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t offset = 0, left = 0;

		assert_int_equal(elf_file_offset(&elf, rows[i].address, &offset, &left),
				 rows[i].found);
		assert_int_equal(offset, rows[i].offset);
		assert_int_equal(left, rows[i].left);
	}
}

/* A small ELF file with one note segment that contains these notes. */
static str with_notes(struct arena *arena, const void *notes, size_t len, uint64_t align)
{
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					   ELFDATA2LSB, EV_CURRENT },
			      .e_type = ET_DYN,
			      .e_machine = EM_X86_64,
			      .e_version = EV_CURRENT,
			      .e_phoff = sizeof(Elf64_Ehdr),
			      .e_ehsize = sizeof(Elf64_Ehdr),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = 1 };
	Elf64_Phdr segment = { .p_type = PT_NOTE,
			       .p_offset = sizeof(header) + sizeof(segment),
			       .p_filesz = len,
			       .p_align = align };
	char *image = arena_alloc(arena, sizeof(header) + sizeof(segment) + len, 1, 16);

	memcpy(image, &header, sizeof(header));
	memcpy(image + sizeof(header), &segment, sizeof(segment));
	memcpy(image + sizeof(header) + sizeof(segment), notes, len);
	return (str){ image, sizeof(header) + sizeof(segment) + len };
}

static void finds_a_build_id_after_other_notes_of_either_alignment(void **state)
{
	static const uint32_t packed[] = { 4, 5, 1, 0x00554e47, 1,         2,
					   4, 4, 3, 0x00554e47, 0xddccbbaa };
	static const uint32_t wide[] = {
		4, 4, 5, 0x00554e47, 1, 0, 4, 4, 3, 0x00554e47, 0xddccbbaa
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		AUTO_ARENA arena = { 0 };
		struct elf_file elf = { 0 };
		struct err err = { 0 };
		str image = with_notes(&arena, i ? wide : packed, sizeof(packed), i ? 8 : 4);

		assert_true(elf_file_read_image(&elf, image, &err));
		assert_int_equal(elf.build_id_len, 4);
		assert_memory_equal(elf.build_id, "\xaa\xbb\xcc\xdd", 4);
	}
}

static void ignores_malformed_notes(void **state)
{
	static const uint32_t rows[][4] = {
		{ 4, 0xffffffff, 3, 0x00554e47 }, /* longer than the file */
		{ 0xffffffff, 4, 3, 0x00554e47 }, /* a name longer than the file */
		{ 4, 0, 3, 0x00554e47 },          /* empty */
		{ 4, 65, 3, 0x00554e47 },         /* longer than any build id */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_ARENA arena = { 0 };
		struct elf_file elf = { 0 };
		struct err err = { 0 };

		assert_true(elf_file_read_image(
			&elf, with_notes(&arena, rows[i], sizeof(rows[i]), 4), &err));
		assert_int_equal(elf.build_id_len, 0);
	}
}

static void rejects_other_files(void **state)
{
	static const char *const texts[] = { "", "\177ELF", "#!/bin/sh\necho not one\n" };
	struct elf_file elf = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct err err = { 0 };

		assert_false(elf_file_read_image(&elf, str_from(texts[i]), &err));
		assert_true(err.msg[0]);
	}
}

RUN_TESTS(TEST(finds_the_build_id_that_readelf_finds), TEST(finds_the_segments_that_readelf_finds),
	  TEST(reads_the_vdso_from_memory), TEST(turns_file_offsets_into_addresses_by_segment),
	  TEST(turns_addresses_into_file_offsets),
	  TEST(finds_a_build_id_after_other_notes_of_either_alignment),
	  TEST(ignores_malformed_notes), TEST(rejects_other_files))
