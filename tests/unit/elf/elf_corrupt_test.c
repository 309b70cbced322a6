// SPDX-License-Identifier: Apache-2.0
/*
 * Each reader of a corrupt ELF file reports an error or reads what is valid.
 */
#include "elf/debug_extract.h"
#include "elf/debug_link.h"
#include "elf/debug_rank.h"
#include "elf/elf_file.h"
#include "elf/elf_symbols.h"
#include "elf/htlhash.h"
#include "support/test.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

static const char *const files[] = { "v5",   "narrow4",    "stubs",     "stubs_arm",
				     "zlib", "dwz_common", "mini_debug" };

static size_t file_read(const char *name, char *room, size_t len)
{
	AUTO_ARENA arena = { 0 };
	AUTO_FD fd = open(str_z(&arena, str_format(&arena, "%s/symbol_build/%s", CORPUS, name)),
			  O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, room, len);

	assert_true(n > 0 && (size_t)n < len);
	return (size_t)n;
}

/* All readers, one after the other, as in the symbolizer and the agent. */
static bool read_all(int fd, str image, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct elf_sections sections;
	struct debug_extract extract;
	struct elf_file elf = { 0 };
	elf_symbols symbols;
	char piece[512];
	size_t n;

	if (!elf_file_read_image(&elf, image, err) ||
	    !elf_sections_read(fd, &arena, &sections, err) ||
	    !elf_symbols_read(fd, &sections, &arena, &symbols, err) ||
	    !debug_extract_plan(&extract, fd, &sections, NULL, &arena, err))
		return false;
	for (uint64_t at = 0; at < extract.size; at += n)
		if (!debug_extract_read(&extract, at, piece, sizeof(piece), &n, err))
			return false;
	return true;
}

static void a_corrupt_file_is_rejected_with_a_sentence_or_read(void **state)
{
	static const char flips[] = { 0x01, '\x80', '\xff' };
	static char bytes[16 << 10];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		AUTO_FD fd = memfd_create("elf", MFD_CLOEXEC);
		size_t len = file_read(files[i], bytes, sizeof(bytes));

		assert_int_equal(write(fd, bytes, len), (ssize_t)len);
		for (size_t at = 0; at < len; at += at < 64 || at + 1600 > len ? 1 : 5) {
			for (size_t k = 0; k < sizeof(flips); k++) {
				struct err err = { 0 };

				bytes[at] = (char)(bytes[at] ^ flips[k]);
				assert_int_equal(pwrite(fd, &bytes[at], 1, (off_t)at), 1);
				assert_true(read_all(fd, (str){ bytes, len }, &err) || err.msg[0]);
				bytes[at] = (char)(bytes[at] ^ flips[k]);
			}
			assert_int_equal(pwrite(fd, &bytes[at], 1, (off_t)at), 1);
		}
	}
}

/* A descriptor that cannot be read, as with a disk error or a directory. */
static void a_failed_read_is_an_error(void **state)
{
	AUTO_ARENA arena = { 0 };
	AUTO_FD fd = memfd_create("elf", MFD_CLOEXEC);
	static char bytes[16 << 10];
	size_t len = file_read("v5", bytes, sizeof(bytes));
	struct elf_sections sections;
	struct debug_extract extract;
	elf_symbols symbols;
	struct elf_file elf;
	struct err err = { 0 };
	htlhash hash;
	char path[64];

	(void)state;
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	assert_true(elf_sections_read(fd, &arena, &sections, &err));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);

	AUTO_FD closed = open(path, O_WRONLY | O_CLOEXEC);

	assert_true(closed >= 0);
	assert_false(elf_file_read(&elf, closed, &err));
	assert_int_equal(err.code, ERR_IO);
	assert_false(elf_file_read(&elf, -1, &err));
	assert_int_equal(err.code, ERR_IO);
	assert_false(elf_sections_read(closed, &arena, &sections, &err));
	assert_int_equal(err.code, ERR_IO);
	assert_false(elf_symbols_read(closed, &sections, &arena, &symbols, &err));
	assert_int_equal(err.code, ERR_IO);
	assert_false(debug_extract_plan(&extract, closed, &sections, NULL, &arena, &err));
	assert_int_equal(err.code, ERR_IO);
	assert_false(htlhash_of_fd(closed, &hash, &err));
	assert_int_equal(err.code, ERR_IO);
	assert_false(htlhash_of_fd(-1, &hash, &err));
	assert_false(elf_sections_read(-1, &arena, &sections, &err));
	assert_int_equal(err.code, ERR_IO);
}

static void reads_a_file_like_its_image(void **state)
{
	AUTO_FD fd = memfd_create("elf", MFD_CLOEXEC);
	static char bytes[16 << 10];
	struct elf_file of_file, of_image;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		size_t len = file_read(files[i], bytes, sizeof(bytes));

		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, bytes, len, 0), (ssize_t)len);
		assert_true(elf_file_read(&of_file, fd, &err));
		assert_true(elf_file_read_image(&of_image, (str){ bytes, len }, &err));
		assert_memory_equal(&of_file, &of_image, sizeof(of_file));
	}
}

enum { CLAIMED = 2000000, CLAIMED_NOTES = 3000, GROWTH_KB_MAX = 32 << 10 };

static long peak_kb(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

/* A sparse file: a header, program headers of notes, a first section header. */
static int sparse_file(uint16_t segments, Elf64_Shdr first)
{
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					   ELFDATA2LSB, EV_CURRENT },
			      .e_version = EV_CURRENT,
			      .e_phoff = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = segments,
			      .e_shoff = 1 << 20,
			      .e_shentsize = sizeof(Elf64_Shdr) };
	int fd = memfd_create("elf", MFD_CLOEXEC);

	assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	assert_int_equal(pwrite(fd, &first, sizeof(first), 1 << 20), sizeof(first));
	assert_int_equal(ftruncate(fd, (off_t)1 << 30), 0);
	for (off_t i = 0; segments != PN_XNUM && i < segments; i++) {
		Elf64_Phdr notes = { .p_type = PT_NOTE,
				     .p_offset = 2 << 20,
				     .p_filesz = ELF_NOTE_BYTES_MAX };

		assert_int_equal(pwrite(fd, &notes, sizeof(notes),
					(off_t)sizeof(header) + i * (off_t)sizeof(notes)),
				 sizeof(notes));
	}
	return fd;
}

/* A few kilobytes on disk that claim millions of headers, or the same notes thousands of times. */
static void claims_of_a_sparse_file_take_no_memory(void **state)
{
	const struct {
		uint16_t segments;
		Elf64_Shdr first;
		bool is_read;
	} rows[] = {
		{ 0, { .sh_size = CLAIMED }, true },
		{ PN_XNUM, { .sh_size = 1, .sh_info = CLAIMED }, false },
		{ CLAIMED_NOTES, { .sh_size = 1 }, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_FD fd = sparse_file(rows[i].segments, rows[i].first);
		long before_kb = peak_kb();
		struct elf_file elf;
		struct err err = { 0 };

		assert_int_equal(elf_file_read(&elf, fd, &err), rows[i].is_read);
		if (!rows[i].is_read)
			assert_int_equal(err.code, ERR_LIMIT);
		assert_in_range(peak_kb() - before_kb, 0, GROWTH_KB_MAX);
	}
}

static void rejects_a_section_above_the_limit_without_reading_it(void **state)
{
	AUTO_ARENA arena = { 0 };
	AUTO_FD fd = memfd_create("elf", MFD_CLOEXEC);
	static char bytes[16 << 10];
	size_t len = file_read("v5", bytes, sizeof(bytes));
	struct elf_sections sections;
	struct err err;
	str text;

	(void)state;
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	assert_true(elf_sections_read(fd, &arena, &sections, &err));

	const struct elf_section *section = elf_sections_find(&sections, STR(".text"));

	assert_true(elf_section_read(fd, section, section->size, &arena, &text, &err));
	assert_int_equal(text.len, section->size);
	assert_false(elf_section_read(fd, section, section->size - 1, &arena, &text, &err));
	assert_int_equal(err.code, ERR_LIMIT);
}

RUN_TESTS(TEST(a_corrupt_file_is_rejected_with_a_sentence_or_read), TEST(a_failed_read_is_an_error),
	  TEST(reads_a_file_like_its_image), TEST(claims_of_a_sparse_file_take_no_memory),
	  TEST(rejects_a_section_above_the_limit_without_reading_it))
