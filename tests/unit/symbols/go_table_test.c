// SPDX-License-Identifier: Apache-2.0
/*
 * A table of Go that is absent, of an unknown version or cannot be read. What a good one says is in
 * symbol_build_test.c.
 */
#include "support/test.h"
#include "symbols/go_table.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

static int file_open(const char *name)
{
	AUTO_ARENA arena = { 0 };

	return open(str_z(&arena, str_format(&arena, "%s/symbol_build/%s", CORPUS, name)),
		    O_RDONLY | O_CLOEXEC);
}

static struct elf_sections sections_of(int fd, struct arena *arena)
{
	struct elf_sections sections;
	struct err err;

	assert_true(elf_sections_read(fd, arena, &sections, &err));
	return sections;
}

static void a_table_that_is_absent_or_of_an_unknown_version_is_empty(void **state)
{
	AUTO_ARENA arena = { 0 };
	AUTO_FD c = file_open("v5"), go = file_open("go"),
		unknown = memfd_create("go", MFD_CLOEXEC);
	struct elf_sections sections = sections_of(c, &arena);
	static char bytes[16 << 10];
	ssize_t len = read(go, bytes, sizeof(bytes));
	struct go_table table;
	struct err err;

	(void)state;
	assert_true(go_table_open(&table, c, &sections, &arena, &err));
	assert_int_equal(table.function_count, 0);

	sections = sections_of(go, &arena);
	assert_true(go_table_open(&table, go, &sections, &arena, &err));
	assert_true(table.function_count > 0);
	bytes[elf_sections_find(&sections, STR(".gopclntab"))->offset] ^= 0x55;
	assert_int_equal(write(unknown, bytes, (size_t)len), len);
	assert_true(go_table_open(&table, unknown, &sections, &arena, &err));
	assert_int_equal(table.function_count, 0);
	assert_int_equal(table.bytes.len, 0);
}

/* The second read fails: the program's data is past the end of a file that became shorter. */
static void after_a_failure_the_table_is_unchanged(void **state)
{
	AUTO_ARENA arena = { 0 };
	AUTO_FD go = file_open("go"), cut = memfd_create("go", MFD_CLOEXEC);
	struct elf_sections sections = sections_of(go, &arena);
	const struct elf_section *data = elf_sections_find(&sections, STR(".go.module"));
	static char bytes[16 << 10];
	struct go_table table, before;
	struct err err;

	(void)state;
	memset(&table, 0x5a, sizeof(table));
	before = table;
	assert_true(read(go, bytes, sizeof(bytes)) > (ssize_t)data->offset);
	assert_int_equal(write(cut, bytes, data->offset), (ssize_t)data->offset);
	assert_false(go_table_open(&table, cut, &sections, &arena, &err));
	assert_int_equal(err.code, ERR_INVALID);
	assert_memory_equal(&table, &before, sizeof(table));
}

RUN_TESTS(TEST(a_table_that_is_absent_or_of_an_unknown_version_is_empty),
	  TEST(after_a_failure_the_table_is_unchanged))
