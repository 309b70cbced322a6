// SPDX-License-Identifier: Apache-2.0
/*
 * The files have nothing but compression headers, one after the other, and a size.
 */
#include "base/buf.h"
#include "elf/elf_compression.h"
#include "support/scratch.h"
#include "support/test.h"

#include <elf.h>
#include <fcntl.h>

enum { MB = 1 << 20, HEADER = 24, SECTIONS = 4 };

static struct scratch scratch;
static struct arena arena;

static int set_up(void **state)
{
	(void)state;
	scratch = scratch_make();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	arena_free(&arena);
	scratch_remove(&scratch);
	return 0;
}

static void write_at(int fd, size_t i, str header)
{
	assert_int_equal(pwrite(fd, header.ptr, header.len, (off_t)(i * HEADER)), header.len);
}

/* Whether a file of that size may have sections with these claims. */
static bool may_claim(uint64_t size, const uint64_t *claims, size_t count)
{
	const char *path = str_z(&arena, str_format(&arena, "%s/file", scratch.path));
	AUTO_FD fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct elf_section items[SECTIONS] = { 0 };
	struct elf_sections sections = { .items = items, .len = count, .is_wide = true };
	struct err err = { 0 };

	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	for (size_t i = 0; i < count; i++) {
		struct buf header = { .arena = &arena };

		buf_u64(&header, ELFCOMPRESS_ZLIB); /* the type, then 4 reserved bytes */
		buf_u64(&header, claims[i]);
		buf_u64(&header, 1);
		write_at(fd, i, buf_bytes(&header));
		items[i] = (struct elf_section){ .name = STR(".debug_info"),
						 .type = SHT_PROGBITS,
						 .flags = SHF_COMPRESSED,
						 .offset = i * HEADER,
						 .size = HEADER };
	}

	bool may = elf_compression_check(fd, &sections, &err);

	assert_true(may || err.code == ERR_LIMIT);
	return may;
}

static void all_sections_together_may_unpack_to_a_multiple_of_the_file(void **state)
{
	const uint64_t third[] = { 30 * MB, 30 * MB, 30 * MB };
	const uint64_t large[] = { UINT64_C(3000) * MB, UINT64_C(199) * MB, 2 * MB };
	const uint64_t most[] = { UINT64_MAX - 1, 3, UINT64_MAX };

	(void)state;
	assert_true(may_claim(MB, third, 0));
	assert_true(may_claim(MB, third, 2)); /* not much, whatever the ratio */
	assert_false(may_claim(MB, third, 3));
	assert_true(may_claim(UINT64_C(6) * MB, third, 3));
	assert_true(may_claim(UINT64_C(100) * MB, large, 2));
	assert_false(may_claim(UINT64_C(100) * MB, large, 3));
	assert_false(may_claim(UINT64_C(100) * MB, most, 1));
	assert_false(may_claim(UINT64_C(100) * MB, most, 3));
}

static void a_section_of_the_old_kind_counts(void **state)
{
	const char *path = str_z(&arena, str_format(&arena, "%s/old", scratch.path));
	AUTO_FD fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct elf_section item = { .name = STR(".zdebug_info"), .type = SHT_PROGBITS, .size = 12 };
	struct elf_sections sections = { .items = &item, .len = 1 };
	struct err err = { 0 };

	(void)state;
	write_at(fd, 0, (str){ "ZLIB\0\0\0\0\x03\xff\xff\xff", 12 });
	assert_true(elf_compression_check(fd, &sections, &err));
	write_at(fd, 0, (str){ "ZLIB\0\0\0\1\0\0\0\0", 12 });
	assert_false(elf_compression_check(fd, &sections, &err));
	assert_int_equal(err.code, ERR_LIMIT);
	item.name = STR(".debug_info"); /* not compressed */
	assert_true(elf_compression_check(fd, &sections, &err));
	item.name = STR(".zdebug_info");
	item.type = SHT_NOBITS;
	assert_true(elf_compression_check(fd, &sections, &err));
}

static void a_truncated_header_claims_nothing(void **state)
{
	struct elf_section section = { .flags = SHF_COMPRESSED };
	struct elf_compression compression;
	str bytes = { "\1\0\0\0\xff\xff\xff\xff\1\0\0", 11 };

	(void)state;
	assert_true(elf_compression_read(&section, false, &bytes, &compression));
	assert_int_equal(compression.type, 0);

	bytes = (str){ "\1\0\0\0\5\0\0\0\1\0\0\0rest", 16 };
	assert_true(elf_compression_read(&section, false, &bytes, &compression));
	assert_int_equal(compression.type, ELFCOMPRESS_ZLIB);
	assert_int_equal(compression.len, 5);
	assert_true(str_eq(bytes, STR("rest")));
}

static void a_file_that_cannot_be_read_is_an_error(void **state)
{
	const char *path = str_z(&arena, str_format(&arena, "%s/unreadable", scratch.path));
	AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct elf_section item = { .name = STR(".zdebug_info"), .type = SHT_PROGBITS, .size = 12 };
	struct elf_sections sections = { .items = &item, .len = 1 };
	struct err err = { 0 };

	(void)state;
	assert_false(elf_compression_check(-1, &sections, &err));
	assert_int_equal(err.code, ERR_IO);
	err = (struct err){ 0 };
	assert_false(elf_compression_check(fd, &sections, &err));
	assert_int_equal(err.code, ERR_IO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_sections_together_may_unpack_to_a_multiple_of_the_file),
		cmocka_unit_test(a_section_of_the_old_kind_counts),
		cmocka_unit_test(a_truncated_header_claims_nothing),
		cmocka_unit_test(a_file_that_cannot_be_read_is_an_error),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
