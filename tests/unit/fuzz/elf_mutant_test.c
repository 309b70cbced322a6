// SPDX-License-Identifier: Apache-2.0
/*
 * The generator of the fuzzers: which fields it changes, and that a seed names a mutant.
 */
#include "base/str.h"
#include "support/elf_mutant.h"
#include "support/test.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>

enum { ROOM = 1 << 16, SEEDS = 500 };

/* Together they have fields of each kind. */
static const char *const files[] = { "v5",         "zlib",
				     "zstd",       "symtab",
				     "stubs",      "go",
				     "mini_debug", "dwz_needs_common",
				     "v4",         "cpp_qualified",
				     "dwz_common" };

static size_t corpus_read(const char *name, char *room)
{
	char path[4096];

	snprintf(path, sizeof(path), CORPUS "/symbol_build/%s", name);

	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, room, ROOM);

	assert_true(n > 0 && n < ROOM);
	return (size_t)n;
}

static void equal_seeds_make_equal_mutants(void **state)
{
	static char first[ROOM], second[ROOM];
	size_t len = corpus_read("v5", first), different = 0;

	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		uint32_t kinds[2];

		corpus_read("v5", first);
		corpus_read("v5", second);

		size_t lens[] = { elf_mutate(first, len, seed, false, &kinds[0]),
				  elf_mutate(second, len, seed, false, &kinds[1]) };

		assert_int_equal(lens[0], lens[1]);
		assert_int_equal(kinds[0], kinds[1]);
		assert_memory_equal(first, second, lens[0]);
		corpus_read("v5", second);
		different += lens[0] != len || memcmp(first, second, len) != 0;
	}
	/* a value is now and then the one that was there */
	assert_true(different > SEEDS * 9 / 10);
}

static void every_kind_of_field_is_changed(void **state)
{
	static char image[ROOM];
	uint32_t all = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			uint32_t kinds;

			elf_mutate(image, corpus_read(files[i], image), seed, false, &kinds);
			all |= kinds;
		}
	for (size_t i = 0; i < ELF_FIELD_COUNT; i++)
		if (!(all & 1U << i))
			fail_msg("no mutant has another %s", elf_field_names[i]);
	assert_true(all & ELF_MUTANT_CUT);
}

static void a_mutant_that_has_to_run_keeps_what_the_kernel_reads(void **state)
{
	static char image[ROOM], mutant[ROOM];
	size_t len = corpus_read("v5", image);
	Elf64_Ehdr header, other;

	(void)state;
	memcpy(&header, image, sizeof(header));
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		memcpy(mutant, image, len);

		size_t left = elf_mutate(mutant, len, seed, true, NULL);

		memcpy(&other, mutant, sizeof(other));
		assert_memory_equal(header.e_ident, other.e_ident, SELFMAG);
		assert_int_equal(header.e_phoff, other.e_phoff);
		assert_int_equal(header.e_phnum, other.e_phnum);
		assert_int_equal(header.e_entry, other.e_entry);
		for (size_t i = 0; i < header.e_phnum; i++) {
			size_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
			Elf64_Phdr segment;

			memcpy(&segment, image + at, sizeof(segment));
			if (segment.p_type != PT_LOAD)
				continue;
			assert_memory_equal(image + at, mutant + at, sizeof(segment));
			assert_true(segment.p_offset + segment.p_filesz <= left);
		}
	}
}

static void a_build_id_is_replaced(void **state)
{
	static const char id[ELF_MUTANT_ID_BYTES] = "a build id of twenty";
	static char image[ROOM];
	size_t len = corpus_read("small", image);

	(void)state;
	assert_false(elf_mutant_identify(image, len, id));
	len = corpus_read("dwz_common", image);
	assert_true(str_find((str){ image, len }, (str){ id, sizeof(id) }) == SIZE_MAX);
	assert_true(elf_mutant_identify(image, len, id));
	assert_true(str_find((str){ image, len }, (str){ id, sizeof(id) }) != SIZE_MAX);
}

static void any_bytes_are_no_reason_to_read_outside_of_them(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		size_t len = seed % 256;
		char *image = calloc(len ? len : 1, 1);

		assert_non_null(image);
		if (len >= SELFMAG)
			memcpy(image, ELFMAG, SELFMAG);
		if (len > EI_CLASS)
			image[EI_CLASS] = seed % 2 ? ELFCLASS64 : ELFCLASS32;
		assert_true(elf_mutate(image, len, seed, seed % 3 == 0, NULL) <= len);
		free(image);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(equal_seeds_make_equal_mutants),
		TEST(every_kind_of_field_is_changed),
		TEST(a_mutant_that_has_to_run_keeps_what_the_kernel_reads),
		TEST(a_build_id_is_replaced),
		TEST(any_bytes_are_no_reason_to_read_outside_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
