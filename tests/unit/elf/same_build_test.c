// SPDX-License-Identifier: Apache-2.0
/*
 * The inputs are this test itself, which is built with -g, and what strip and objcopy make of it.
 */
#include "base/str.h"
#include "elf/same_build.h"
#include "support/scratch.h"
#include "support/test.h"

#include <fcntl.h>
#include <string.h>

static struct scratch scratch;

/* A function that the commands below move and rename. */
int renamed_by_a_command(int n);
int renamed_by_a_command(int n)
{
	return n + 1;
}

static int set_up(void **state)
{
	(void)state;
	scratch = scratch_make();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	scratch_remove(&scratch);
	return 0;
}

/* Runs `command`, in which $SELF is this program and $OUT the file to make. */
static int made_by(const char *command)
{
	AUTO_ARENA arena = { 0 };
	char self[4096] = "";
	const char *out = str_z(&arena, str_format(&arena, "%s/out", scratch.path));

	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	assert_int_equal(setenv("SELF", self, 1), 0);
	assert_int_equal(setenv("OUT", out, 1), 0);
	/* NOLINTNEXTLINE(cert-env33-c): a test, of fixed commands */
	assert_int_equal(system(command), 0);

	int fd = open(out, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(unlink(out), 0);
	return fd;
}

static bool is_same(const char *less, const char *more, struct err *err)
{
	AUTO_FD less_fd = made_by(less);
	AUTO_FD more_fd = made_by(more);

	*err = (struct err){ 0 };
	return same_build_check(less_fd, more_fd, err);
}

static void what_is_made_of_one_build_agrees(void **state)
{
	static const char *const pairs[][2] = {
		{ "cp $SELF $OUT", "cp $SELF $OUT" },
		{ "strip -o $OUT $SELF", "cp $SELF $OUT" },
		{ "strip -g -o $OUT $SELF", "cp $SELF $OUT" },
		{ "strip -o $OUT $SELF", "strip -g -o $OUT $SELF" },
		{ "strip -o $OUT $SELF", "objcopy --only-keep-debug $SELF $OUT" },
		{ "strip -g -o $OUT $SELF", "objcopy --only-keep-debug $SELF $OUT" },
	};
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		if (!is_same(pairs[i][0], pairs[i][1], &err))
			fail_msg("pair %zu: %s", i, err.msg);
}

static void another_function_or_section_contradicts(void **state)
{
	static const char *const files[] = {
		"objcopy --redefine-sym renamed_by_a_command=other $SELF $OUT",
		"objcopy --strip-symbol=renamed_by_a_command -g $SELF $OUT",
		"objcopy -g --rename-section .rodata=.other $SELF $OUT",
		"objcopy -g -R .comment -R .eh_frame_hdr $SELF $OUT",
		"cp /bin/true $OUT",
	};
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		if (is_same("strip -g -o $OUT $SELF", files[i], &err))
			fail_msg("file %zu agrees", i);
		assert_int_equal(err.code, ERR_INVALID);
	}
	assert_false(is_same("strip -g -o $OUT $SELF", files[0], &err));
	assert_non_null(strstr(err.msg, "renamed_by_a_command"));
}

/* A sparse file, so that it costs no disk space. */
static void too_large_symbol_tables_are_not_compared(void **state)
{
	struct err err;

	(void)state;
	assert_false(is_same("truncate -s 65M $OUT.table && objcopy --add-section .s=$OUT.table "
			     "--rename-section .symtab=.other $SELF $OUT.1 && objcopy "
			     "--rename-section .s=.symtab $OUT.1 $OUT && rm $OUT.1 $OUT.table",
			     "cp $SELF $OUT", &err));
	assert_int_equal(err.code, ERR_LIMIT);
}

static void a_file_that_is_not_elf_is_an_error(void **state)
{
	struct err err;

	(void)state;
	assert_false(is_same("echo text > $OUT", "cp $SELF $OUT", &err));
	assert_int_equal(err.code, ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_made_of_one_build_agrees),
		TEST(another_function_or_section_contradicts),
		TEST(too_large_symbol_tables_are_not_compared),
		TEST(a_file_that_is_not_elf_is_an_error),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
