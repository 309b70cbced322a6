// SPDX-License-Identifier: Apache-2.0
/*
 * The inputs are this test itself, which is built with -g, and what strip and objcopy make of it.
 */
#include "elf/debug_rank.h"
#include "support/scratch.h"
#include "support/test.h"

#include <fcntl.h>

static struct scratch scratch;

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

static struct debug_contents contents_of(const char *path)
{
	AUTO_ARENA arena = { 0 };
	struct elf_sections sections;
	struct err err;
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(elf_sections_read(fd, &arena, &sections, &err));
	return debug_contents_of(fd, &sections);
}

/* Runs `command`, in which OUT stands for the file that it makes from this program. */
static struct debug_contents made_by(const char *command)
{
	AUTO_ARENA arena = { 0 };
	char self[4096] = "";
	const char *out = str_z(&arena, str_format(&arena, "%s/out", scratch.path));

	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	assert_int_equal(setenv("SELF", self, 1), 0);
	assert_int_equal(setenv("OUT", out, 1), 0);
	/* NOLINTNEXTLINE(cert-env33-c): a test, of fixed commands */
	assert_int_equal(system(command), 0);
	return contents_of(out);
}

static void ranks_a_file_by_its_contents(void **state)
{
	static const struct {
		const char *command;
		enum debug_rank rank;
		bool has_code;
	} rows[] = {
		{ "cp $SELF $OUT", DEBUG_DWARF, true },
		{ "objcopy --only-keep-debug $SELF $OUT", DEBUG_DWARF, false },
		{ "eu-strip -f $OUT -o $OUT.rest $SELF", DEBUG_DWARF, false },
		{ "eu-strip -f $OUT.debug -o $OUT $SELF", DEBUG_DYNSYM, true },
		{ "objcopy --compress-debug-sections=zlib $SELF $OUT", DEBUG_DWARF, true },
		{ "objcopy --compress-debug-sections=zlib-gnu $SELF $OUT", DEBUG_DWARF, true },
		{ "strip -g -o $OUT $SELF", DEBUG_SYMTAB, true },
		{ "strip -g -o $OUT.s $SELF && objcopy --only-keep-debug $OUT.s $OUT", DEBUG_SYMTAB,
		  false },
		{ "strip -o $OUT $SELF", DEBUG_DYNSYM, true },
		{ "strip -o $OUT.s $SELF && objcopy --add-section .gnu_debugdata=/bin/sh "
		  "$OUT.s $OUT",
		  DEBUG_MINI, true },
		{ "strip -g -o $OUT.s $SELF && objcopy --add-section .gopclntab=/bin/sh $OUT.s "
		  "$OUT",
		  DEBUG_GO, true },
		/* without the data that it needs, Go's table is worth nothing */
		{ "strip -g -o $OUT.s $SELF && objcopy --only-keep-debug $OUT.s $OUT.t && "
		  "objcopy --add-section .gopclntab=/bin/sh $OUT.t $OUT",
		  DEBUG_SYMTAB, false },
		/* 64-bit DWARF */
		{ "printf '\\377\\377\\377\\377\\010\\0\\0\\0\\0\\0\\0\\0\\005\\0xxxxxx' >$OUT.x; "
		  "strip -g -o $OUT.s $SELF && objcopy --add-section .debug_info=$OUT.x "
		  "--add-section .debug_abbrev=$OUT.x $OUT.s $OUT",
		  DEBUG_DWARF, true },
		{ "echo 'int main(void) { return 0; }' >$OUT.c; cc -g -gdwarf-4 -gsplit-dwarf -o "
		  "$OUT $OUT.c",
		  DEBUG_SPLIT, true },
		{ "cc -g -gdwarf-5 -gsplit-dwarf -o $OUT $OUT.c", DEBUG_SPLIT, true },
		/* a program that was not built split may have .debug_addr, too */
		{ "cc -g -gdwarf-4 -o $OUT.s $OUT.c; objcopy --add-section .debug_addr=/bin/sh "
		  "$OUT.s "
		  "$OUT",
		  DEBUG_DWARF, true },
		{ "cc -g -gdwarf-5 -o $OUT.s $OUT.c; objcopy --add-section .debug_addr=/bin/sh "
		  "$OUT.s "
		  "$OUT",
		  DEBUG_DWARF, true },
		/* with its package */
		{ "cc -g -gdwarf-5 -gsplit-dwarf -o $OUT.s $OUT.c; objcopy --add-section "
		  ".debug_cu_index=/bin/sh $OUT.s $OUT",
		  DEBUG_DWARF, true },
		/* units that do not end */
		{ "printf "
		  "'\\010\\0\\0\\0\\005\\0\\001\\010xxxx\\377\\377\\377\\177\\005\\0\\004\\010' "
		  ">$OUT.x; strip -g -o "
		  "$OUT.s $SELF && objcopy --add-section .debug_info=$OUT.x --add-section "
		  ".debug_abbrev=$OUT.x --add-section .debug_addr=$OUT.x $OUT.s $OUT",
		  DEBUG_DWARF, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct debug_contents contents = made_by(rows[i].command);

		if (contents.rank != rows[i].rank || contents.has_code != rows[i].has_code)
			fail_msg("%s: %s, code %d", rows[i].command,
				 debug_rank_names[contents.rank], contents.has_code);
	}
}

/* The name of a section is not enough: its contents must begin like DWARF. */
static void bytes_that_are_not_dwarf_do_not_count(void **state)
{
	static const char *const commands[] = {
		"printf xxxxxxxxxxxxxxxx >$OUT.x; strip -g -o $OUT.s $SELF && objcopy "
		"--add-section .debug_info=$OUT.x --add-section .debug_abbrev=$OUT.x $OUT.s $OUT",
		"printf x >$OUT.x; strip -g -o $OUT.s $SELF && objcopy "
		"--add-section .debug_info=$OUT.x --add-section .debug_abbrev=$OUT.x $OUT.s $OUT",
		"printf '\\377\\377\\0\\0\\005\\0xxxxxxxx' >$OUT.x; strip -g -o $OUT.s $SELF && "
		"objcopy --add-section .debug_info=$OUT.x --add-section .debug_abbrev=$OUT.x "
		"$OUT.s $OUT",
		"objcopy --remove-section .debug_abbrev $SELF $OUT",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		assert_int_equal(made_by(commands[i]).rank, DEBUG_SYMTAB);
}

static void ranks_have_names(void **state)
{
	enum debug_rank rank;

	(void)state;
	for (enum debug_rank each = 0; each < DEBUG_RANK_COUNT; each++) {
		assert_true(debug_rank_parse(str_from(debug_rank_names[each]), &rank));
		assert_int_equal(rank, each);
	}
	assert_false(debug_rank_parse(STR("DWARF"), &rank));
	assert_false(debug_rank_parse(STR(""), &rank));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ranks_a_file_by_its_contents),
		TEST(bytes_that_are_not_dwarf_do_not_count),
		TEST(ranks_have_names),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
