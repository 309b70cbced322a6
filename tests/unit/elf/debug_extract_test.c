// SPDX-License-Identifier: Apache-2.0
/*
 * The input is this test itself, which is built with -g. tests/integration/test_extract.py compares
 * what other tools find in an extract.
 */
#include "elf/debug_extract.h"
#include "elf/debug_rank.h"
#include "elf/elf_file.h"
#include "support/test.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>

struct file {
	struct arena arena;
	int fd;
	struct elf_sections sections;
	struct debug_extract extract;
};

static struct file file_open(void)
{
	struct file file = { .fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC) };
	struct err err;

	assert_true(elf_sections_read(file.fd, &file.arena, &file.sections, &err));
	assert_true(debug_extract_plan(&file.extract, file.fd, &file.sections, NULL, &file.arena,
				       &err));
	return file;
}

static void file_close(struct file *file)
{
	close(file->fd);
	arena_free(&file->arena);
}

static str extract_whole(struct file *file)
{
	size_t n, len = (size_t)file->extract.size;
	char *bytes = arena_array(&file->arena, char, len);
	struct err err;

	assert_true(debug_extract_read(&file->extract, 0, bytes, len + 1, &n, &err));
	assert_int_equal(n, len);
	return (str){ bytes, len };
}

static void keeps_symbols_and_drops_code(void **state)
{
	static const char *const kept[] = { ".debug_info",       ".symtab", ".strtab",
					    ".dynsym",           ".dynstr", ".comment",
					    ".note.gnu.build-id" };
	static const char *const gone[] = { ".text", ".data", ".rodata", ".eh_frame" };
	struct file file = file_open();
	str whole = extract_whole(&file);
	AUTO_FD fd = memfd_create("extract", MFD_CLOEXEC);
	struct elf_sections sections;
	struct elf_file was, is;
	struct err err;

	(void)state;
	assert_int_equal(write(fd, whole.ptr, whole.len), (ssize_t)whole.len);
	assert_true(elf_sections_read(fd, &file.arena, &sections, &err));
	for (size_t i = 0; i < ARRAY_LEN(kept); i++)
		assert_true(elf_section_has_bytes(elf_sections_find(&sections, str_from(kept[i]))));
	for (size_t i = 0; i < ARRAY_LEN(gone); i++) {
		const struct elf_section *section = elf_sections_find(&sections, str_from(gone[i]));

		assert_false(elf_section_has_bytes(section));
		assert_int_equal(section->address,
				 elf_sections_find(&file.sections, str_from(gone[i]))->address);
	}
	assert_int_equal(debug_contents_of(fd, &sections).rank,
			 debug_contents_of(file.fd, &file.sections).rank);
	assert_false(debug_contents_of(fd, &sections).has_code);
	assert_true(elf_file_read(&was, file.fd, &err) && elf_file_read(&is, fd, &err));
	assert_int_equal(is.build_id_len, was.build_id_len);
	assert_memory_equal(is.build_id, was.build_id, was.build_id_len);
	file_close(&file);
}

static void reads_the_same_from_any_offset_in_any_steps(void **state)
{
	struct file file = file_open();
	str whole = extract_whole(&file);
	char room[1000];
	struct err err;
	size_t n;

	(void)state;
	for (uint64_t at = 0; at < whole.len; at += n) {
		assert_true(debug_extract_read(&file.extract, at, room, 1 + at % 997, &n, &err));
		assert_true(n > 0);
		assert_memory_equal(room, whole.ptr + at, n);
	}
	assert_true(debug_extract_read(&file.extract, whole.len, room, 1, &n, &err));
	assert_int_equal(n, 0);
	file_close(&file);
}

/* This program in memory, to be corrupted. */
static int copy_of(const struct file *file)
{
	int fd = memfd_create("copy", MFD_CLOEXEC);
	loff_t from = 0;

	while (copy_file_range(file->fd, &from, fd, NULL, 1 << 20, 0) > 0)
		;
	if (from == 0) { /* the memfd and the file are on different file systems */
		char room[4096];

		for (ssize_t n; (n = pread(file->fd, room, sizeof(room), from)) > 0; from += n)
			assert_int_equal(write(fd, room, (size_t)n), n);
	}
	return fd;
}

static void a_file_that_shrinks_is_an_error(void **state)
{
	struct file file = file_open();
	AUTO_FD fd = copy_of(&file);
	AUTO_FREE char *room = malloc((size_t)file.extract.size);
	struct err err = { 0 };
	size_t n;

	(void)state;
	assert_true(debug_extract_plan(&file.extract, fd, &file.sections, NULL, &file.arena, &err));
	assert_int_equal(ftruncate(fd, 1000), 0);
	assert_false(
		debug_extract_read(&file.extract, 0, room, (size_t)file.extract.size, &n, &err));
	assert_int_equal(err.code, ERR_IO);
	file_close(&file);
}

/* Otherwise a file of a megabyte could be uploaded as one of a terabyte. */
static void rejects_overlapping_sections(void **state)
{
	struct file file = file_open();
	AUTO_FD fd = copy_of(&file);
	struct debug_extract extract;
	struct err err = { 0 };

	(void)state;
	for (size_t i = 1; i < file.sections.len; i++) {
		Elf64_Shdr header;
		off_t at = (off_t)(file.sections.table_offset + i * sizeof(header));

		assert_int_equal(pread(fd, &header, sizeof(header), at), sizeof(header));
		header.sh_type = SHT_NOTE;
		header.sh_offset = 0;
		header.sh_size = file.extract.size / 2;
		assert_int_equal(pwrite(fd, &header, sizeof(header), at), sizeof(header));
	}
	assert_true(elf_sections_read(fd, &file.arena, &file.sections, &err));
	assert_false(debug_extract_plan(&extract, fd, &file.sections, NULL, &file.arena, &err));
	assert_int_equal(err.code, ERR_INVALID);
	file_close(&file);
}

/* This program as its own package: its .debug_ sections are there twice. */
static void adds_the_sections_of_a_package(void **state)
{
	struct file file = file_open();
	const struct debug_package package = { .fd = file.fd, .sections = file.sections };
	AUTO_FD fd = memfd_create("extract", MFD_CLOEXEC);
	struct elf_sections sections;
	struct err err;
	size_t added = 0;

	(void)state;
	assert_true(debug_extract_plan(&file.extract, file.fd, &file.sections, &package,
				       &file.arena, &err));
	str whole = extract_whole(&file);

	assert_int_equal(write(fd, whole.ptr, whole.len), (ssize_t)whole.len);
	assert_true(elf_sections_read(fd, &file.arena, &sections, &err));
	for (size_t i = 0; i < file.sections.len; i++) {
		const struct elf_section *own = &file.sections.items[i];

		assert_true(str_eq(sections.items[i].name, own->name));
		if (!str_starts_with(own->name, STR(".debug_")))
			continue;

		const struct elf_section *other = &sections.items[file.sections.len + added++];

		assert_true(str_eq(other->name, own->name));
		assert_int_equal(other->size, own->size);
		assert_memory_equal(whole.ptr + other->offset, whole.ptr + sections.items[i].offset,
				    own->size);
	}
	assert_true(added > 4);
	assert_int_equal(sections.len, file.sections.len + added);
	file_close(&file);
}

static void assert_refused(const struct file *file, const struct elf_sections *sections,
			   const struct debug_package *package, enum err_code code)
{
	AUTO_ARENA arena = { 0 };
	struct debug_extract extract;
	struct err err = { 0 };

	assert_false(debug_extract_plan(&extract, file->fd, sections, package, &arena, &err));
	assert_int_equal(err.code, code);
}

static void rejects_a_package_that_does_not_fit(void **state)
{
	struct file file = file_open();
	struct debug_package package = { .fd = file.fd, .sections = file.sections };
	struct elf_sections nameless = file.sections;
	struct elf_section *many = arena_array(&file.arena, struct elf_section, SHN_LORESERVE);

	(void)state;
	package.sections.machine = EM_AARCH64;
	assert_refused(&file, &file.sections, &package, ERR_INVALID);
	package.sections = file.sections;
	package.sections.is_wide = false;
	assert_refused(&file, &file.sections, &package, ERR_INVALID);
	package.sections = file.sections;
	nameless.names_index = 0;
	assert_refused(&file, &nameless, &package, ERR_INVALID);
	for (size_t i = 0; i < SHN_LORESERVE; i++)
		many[i] = (struct elf_section){ .name = STR(".debug_x"),
						.type = SHT_PROGBITS,
						.size = 1 };
	package.sections.items = many;
	package.sections.len = SHN_LORESERVE;
	assert_refused(&file, &file.sections, &package, ERR_LIMIT);
	package.sections.len = 3;
	many[1].size = many[2].size = (uint64_t)lseek(file.fd, 0, SEEK_END);
	assert_refused(&file, &file.sections, &package, ERR_INVALID); /* they overlap */
	file_close(&file);
}

RUN_TESTS(TEST(adds_the_sections_of_a_package), TEST(rejects_a_package_that_does_not_fit),
	  TEST(keeps_symbols_and_drops_code), TEST(reads_the_same_from_any_offset_in_any_steps),
	  TEST(a_file_that_shrinks_is_an_error), TEST(rejects_overlapping_sections))
