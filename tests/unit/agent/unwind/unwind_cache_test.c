// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/unwind/unwind_cache_internal.h"
#include "support/scratch.h"
#include "support/test.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { TABLE_BYTES = 10000 };

static struct scratch scratch;
static struct unwind_cache cache;

static int begin(void **state)
{
	(void)state;
	scratch = scratch_make();
	return 0;
}

static int end(void **state)
{
	(void)state;
	unwind_cache_close(&cache);
	scratch_remove(&scratch);
	return 0;
}

static int table_of(char fill)
{
	static char bytes[TABLE_BYTES];
	int fd = memfd_create("table", MFD_CLOEXEC);

	memset(bytes, fill, sizeof(bytes));
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	return fd;
}

static void put(const char *build_id, char fill)
{
	AUTO_FD fd = table_of(fill);
	struct err err;

	assert_true(unwind_cache_put(&cache, build_id, fd, &err));
}

/* Whether the table is stored and complete. Sets its time of last use. */
static bool has(const char *build_id, char fill, long used_s)
{
	struct timespec times[2] = { { .tv_sec = used_s }, { .tv_sec = used_s } };
	char bytes[TABLE_BYTES + 1];
	AUTO_FD fd = unwind_cache_get(&cache, build_id);

	if (fd < 0)
		return false;
	assert_int_equal(read(fd, bytes, sizeof(bytes)), TABLE_BYTES);
	assert_int_equal(bytes[0], fill);
	assert_int_equal(bytes[TABLE_BYTES - 1], fill);
	assert_int_equal(futimens(fd, times), 0);
	return true;
}

static void a_stored_table_survives_a_restart(void **state)
{
	(void)state;
	unwind_cache_open(&cache, scratch.path, 1 << 20);
	assert_false(has("aa", 'a', 1));
	put("aa", 'a');
	assert_true(has("aa", 'a', 1));
	assert_int_equal(cache.bytes, TABLE_BYTES);
	unwind_cache_close(&cache);
	unwind_cache_open(&cache, scratch.path, 1 << 20);
	assert_int_equal(cache.bytes, TABLE_BYTES);
	assert_true(has("aa", 'a', 1));
	unwind_cache_remove(&cache, "aa");
	unwind_cache_remove(&cache, "bb");
	assert_false(has("aa", 'a', 1));
	assert_int_equal(cache.bytes, 0);
}

static void the_least_recently_used_table_makes_room(void **state)
{
	(void)state;
	unwind_cache_open(&cache, scratch.path, 3 * TABLE_BYTES);
	put("aa", 'a');
	put("bb", 'b');
	put("cc", 'c');
	assert_true(has("bb", 'b', 100) && has("cc", 'c', 200) && has("aa", 'a', 300));
	put("dd", 'd');
	assert_int_equal(cache.removed, 1);
	assert_int_equal(cache.bytes, 3 * TABLE_BYTES);
	assert_false(has("bb", 'b', 100));
	assert_true(has("aa", 'a', 300) && has("cc", 'c', 200) && has("dd", 'd', 400));
}

static void a_table_larger_than_the_cache_is_not_stored(void **state)
{
	(void)state;
	unwind_cache_open(&cache, scratch.path, TABLE_BYTES - 1);
	put("aa", 'a');
	assert_false(has("aa", 'a', 1));
	assert_int_equal(cache.bytes, 0);
}

static void leftover_files_of_a_previous_process_are_removed(void **state)
{
	static const char *const names[] = { "aa.v0", "next.tmp", "something" };
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/unwind", scratch.path);
	assert_int_equal(mkdir(path, 0700), 0);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/unwind/%s", scratch.path, names[i]);

		AUTO_FD fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

		assert_int_equal(write(fd, "x", 1), 1);
	}
	unwind_cache_open(&cache, scratch.path, 1 << 20);
	assert_int_equal(cache.bytes, 0);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/unwind/%s", scratch.path, names[i]);
		assert_int_not_equal(access(path, F_OK), 0);
	}
}

static void without_a_directory_nothing_is_stored(void **state)
{
	(void)state;
	unwind_cache_open(&cache, NULL, 1 << 20);
	put("aa", 'a');
	assert_false(has("aa", 'a', 1));
	unwind_cache_remove(&cache, "aa");
	unwind_cache_open(&cache, "/nowhere/at/all", 1 << 20);
	put("aa", 'a');
	assert_false(has("aa", 'a', 1));
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, begin, end)

RUN_TESTS(CASE(a_stored_table_survives_a_restart), CASE(the_least_recently_used_table_makes_room),
	  CASE(a_table_larger_than_the_cache_is_not_stored),
	  CASE(leftover_files_of_a_previous_process_are_removed),
	  CASE(without_a_directory_nothing_is_stored))
