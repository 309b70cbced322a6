// SPDX-License-Identifier: Apache-2.0
/*
 * Real binaries, compared with the output of readelf; and malformed files.
 */
#include "elf/elf_sections.h"
#include "support/test.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

static const char *const binaries[] = {
	"/bin/sh",
	"/usr/bin/python3",
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib/aarch64-linux-gnu/libc.so.6",
};

static bool sections_of(const char *path, struct arena *arena, struct elf_sections *sections)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	struct err err;

	return fd >= 0 && elf_sections_read(fd, arena, sections, &err);
}

/*   [ 1] .interp           PROGBITS        0000000000000318 000318 00001c 00   A  0   0  1 */
static void finds_the_sections_that_readelf_finds(void **state)
{
	size_t compared = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(binaries); i++) {
		AUTO_ARENA arena = { 0 };
		struct elf_sections sections;
		char line[1024], command[256];
		size_t at = 1;

		if (!sections_of(binaries[i], &arena, &sections))
			continue;
		snprintf(command, sizeof(command), "readelf -SW %s", binaries[i]);

		FILE *out = popen(command, "r"); /* NOLINT(cert-env33-c): a test, fixed commands */

		while (out && fgets(line, sizeof(line), out)) {
			char name[128], type[32];
			uintmax_t address, offset, size;
			size_t index;

			/* NOLINTNEXTLINE(cert-err34-c): readelf's own numbers */
			if (sscanf(line, " [%zu] %127s %31s %jx %jx %jx", &index, name, type,
				   &address, &offset, &size) != 6 ||
			    index == 0)
				continue;
			assert_int_equal(index, at);
			assert_true(at < sections.len);
			assert_true(str_eq(sections.items[at].name, str_from(name)));
			assert_int_equal(sections.items[at].address, address);
			assert_int_equal(sections.items[at].offset, offset);
			assert_int_equal(sections.items[at].size, size);
			at++, compared++;
		}
		pclose(out);
		assert_int_equal(at, sections.len);
	}
	assert_true(compared >= 50);
}

/* All of /bin/sh, to be corrupted. */
static str shell(struct arena *arena)
{
	AUTO_FD fd = open("/bin/sh", O_RDONLY | O_CLOEXEC);
	size_t len = (size_t)lseek(fd, 0, SEEK_END);
	char *bytes = arena_array(arena, char, len);

	assert_int_equal(pread(fd, bytes, len, 0), (ssize_t)len);
	return (str){ bytes, len };
}

static bool read_image(str image, struct elf_sections *sections, struct arena *arena,
		       struct err *err)
{
	AUTO_FD fd = memfd_create("elf", MFD_CLOEXEC);

	assert_int_equal(write(fd, image.ptr, image.len), (ssize_t)image.len);
	return elf_sections_read(fd, arena, sections, err);
}

static void rejects_a_file_truncated_anywhere(void **state)
{
	AUTO_ARENA arena = { 0 };
	str whole = shell(&arena);
	struct elf_sections sections;
	struct err err = { 0 };

	(void)state;
	assert_true(read_image(whole, &sections, &arena, &err));
	for (size_t len = 0; len < whole.len; len += len < 80 ? 1 : whole.len / 50) {
		assert_false(read_image((str){ whole.ptr, len }, &sections, &arena, &err));
		assert_int_equal(err.code, ERR_INVALID);
	}
}

static void bounds_the_claims_of_a_header(void **state)
{
	AUTO_ARENA arena = { 0 };
	str whole = shell(&arena);
	Elf64_Ehdr *head = (Elf64_Ehdr *)(uintptr_t)whole.ptr;
	Elf64_Shdr *first = (Elf64_Shdr *)(uintptr_t)(whole.ptr + head->e_shoff);
	Elf64_Shdr *names = first + head->e_shstrndx;
	struct elf_sections sections;
	struct err err = { 0 };
	Elf64_Ehdr was = *head;

	(void)state;
	head->e_shnum = 0; /* then the first section header has the count */
	first->sh_size = UINT64_MAX;
	assert_false(read_image(whole, &sections, &arena, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	first->sh_size = was.e_shnum;
	assert_true(read_image(whole, &sections, &arena, &err));
	assert_int_equal(sections.len, was.e_shnum);

	head->e_phnum = PN_XNUM;
	first->sh_info = UINT32_MAX;
	assert_false(read_image(whole, &sections, &arena, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	*head = was;

	names->sh_type = SHT_NOBITS; /* so that it may be outside of the file */
	names->sh_size = ELF_NAMES_MAX + 1;
	assert_false(read_image(whole, &sections, &arena, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	head->e_shstrndx = 0;
	assert_true(read_image(whole, &sections, &arena, &err));
	assert_int_equal(sections.items[1].name.len, 0);

	head->e_shoff = UINT64_MAX - 64;
	assert_false(read_image(whole, &sections, &arena, &err));
	head->e_shoff = 0; /* no section headers */
	assert_true(read_image(whole, &sections, &arena, &err));
	assert_int_equal(sections.len, 0);
	assert_true(arena.size < 64 << 20);
}

static void a_section_without_contents_has_no_bytes(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct elf_sections sections;

	(void)state;
	assert_true(sections_of("/bin/sh", &arena, &sections));
	assert_true(elf_section_has_bytes(elf_sections_find(&sections, STR(".text"))));
	assert_false(elf_section_has_bytes(elf_sections_find(&sections, STR(".bss"))));
	assert_false(elf_section_has_bytes(elf_sections_find(&sections, STR(".nowhere"))));
}

RUN_TESTS(TEST(finds_the_sections_that_readelf_finds), TEST(rejects_a_file_truncated_anywhere),
	  TEST(bounds_the_claims_of_a_header), TEST(a_section_without_contents_has_no_bytes))
