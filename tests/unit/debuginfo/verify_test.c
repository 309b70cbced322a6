// SPDX-License-Identifier: Apache-2.0
/*
 * Verifies the executable of this test, with its build id and without one.
 */
#include "debuginfo/verify.h"
#include "elf/elf_file.h"
#include "elf/htlhash.h"
#include "support/scratch.h"
#include "support/test.h"

#include <fcntl.h>

static struct scratch scratch;
static char without_id[128];

static int set_up(void **state)
{
	char self[4096] = "";

	(void)state;
	scratch = scratch_make();
	snprintf(without_id, sizeof(without_id), "%s/out", scratch.path);
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) <= 0 || setenv("SELF", self, 1) ||
	    setenv("OUT", without_id, 1))
		return -1;
	/* NOLINTNEXTLINE(cert-env33-c): a test, of a fixed command */
	return system("objcopy -R .note.gnu.build-id $SELF $OUT");
}

static int tear_down(void **state)
{
	(void)state;
	scratch_remove(&scratch);
	return 0;
}

static struct build_id id_of(str text)
{
	struct build_id id;
	struct err err;

	assert_true(build_id_parse(text, &id, &err));
	return id;
}

static bool verifies(const char *path, str id, bool is_stated)
{
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	struct build_id parsed = id_of(id);
	struct debug_contents contents = { 0 };
	struct err err = { 0 };
	bool ok = verify_file(fd, &parsed, is_stated, &contents, &err);

	if (ok)
		assert_int_equal(contents.rank, DEBUG_DWARF);
	else
		assert_int_equal(err.code, ERR_INVALID);
	return ok;
}

static void accepts_only_the_build_id_of_the_file(void **state)
{
	AUTO_ARENA arena = { 0 };
	AUTO_FD fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_file elf = { 0 };
	struct err err;

	(void)state;
	assert_true(elf_file_read(&elf, fd, &err) && elf.build_id_len > 0);

	str own = str_hex(&arena, (str){ (char *)elf.build_id, elf.build_id_len });

	assert_true(verifies("/proc/self/exe", own, false));
	assert_false(verifies("/proc/self/exe", STR("0123456789abcdef"), false));
	assert_false(verifies("/proc/self/exe", STR("0123456789abcdef"), true));
	own.len -= 2; /* a prefix is another build id */
	assert_false(verifies("/proc/self/exe", own, true));
}

static void a_build_id_may_be_stated_for_a_file_without_one(void **state)
{
	(void)state;
	assert_false(verifies(without_id, STR("0123456789abcdef"), false));
	assert_true(verifies(without_id, STR("0123456789abcdef"), true));
}

static void only_a_file_without_a_build_id_is_known_by_its_hash(void **state)
{
	AUTO_ARENA arena = { 0 };
	AUTO_FD fd = open(without_id, O_RDONLY | O_CLOEXEC);
	AUTO_FD self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	htlhash hash, of_self;
	struct err err;

	(void)state;
	assert_true(htlhash_of_fd(fd, &hash, &err) && htlhash_of_fd(self, &of_self, &err));
	assert_true(verifies(without_id,
			     str_format(&arena, "htlhash:%.*s", HTLHASH_HEX_LEN, hash.hex), false));
	assert_false(verifies(without_id, STR("htlhash:0123456789abcdef0123456789abcdef"), false));
	assert_false(verifies("/proc/self/exe",
			      str_format(&arena, "htlhash:%.*s", HTLHASH_HEX_LEN, of_self.hex),
			      false));
}

static void a_file_that_is_not_elf_has_no_contents(void **state)
{
	AUTO_FD fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	struct build_id id = id_of(STR("0123456789abcdef"));
	struct debug_contents contents;
	struct err err = { 0 };

	(void)state;
	assert_false(verify_file(fd, &id, true, &contents, &err));
	assert_int_equal(verified_contents(fd).rank, DEBUG_NOTHING);
	assert_false(verified_contents(fd).has_code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(accepts_only_the_build_id_of_the_file),
		TEST(a_build_id_may_be_stated_for_a_file_without_one),
		TEST(only_a_file_without_a_build_id_is_known_by_its_hash),
		TEST(a_file_that_is_not_elf_has_no_contents),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
