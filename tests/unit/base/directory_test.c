// SPDX-License-Identifier: Apache-2.0
#include "base/directory.h"
#include "base/str.h"
#include "support/scratch.h"
#include "support/test.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned int mode_of(int fd)
{
	struct stat stat;

	assert_int_equal(fstat(fd, &stat), 0);
	assert_true(S_ISDIR(stat.st_mode));
	return stat.st_mode & 0777;
}

static void creates_missing_directories_and_opens_existing_ones(void **state)
{
	struct scratch scratch = scratch_make();
	char path[128];
	int first = -1, second = -1, parent = -1;
	struct err err = { 0 };

	(void)state;
	umask(022);
	snprintf(path, sizeof(path), "%s/a//b/c", scratch.path);
	assert_true(directory_open(path, &first, &err));
	assert_true(directory_open(path, &second, &err));
	assert_int_equal(mode_of(first), 0750);
	snprintf(path, sizeof(path), "%s/a/b", scratch.path);
	assert_true(directory_open(path, &parent, &err));
	assert_int_equal(mode_of(parent), 0755);

	close(first);
	close(second);
	close(parent);
	scratch_remove(&scratch);
}

static void an_error_names_the_obstacle(void **state)
{
	static char long_path[PATH_MAX + 1];
	struct scratch scratch = scratch_make();
	char path[128];
	struct err err = { 0 };
	int fd = -1;

	(void)state;
	assert_false(directory_open("", &fd, &err));
	assert_int_equal(err.code, ERR_INVALID);
	memset(long_path, 'a', PATH_MAX);
	assert_false(directory_open(long_path, &fd, &err));
	assert_int_equal(err.code, ERR_INVALID);
	snprintf(path, sizeof(path), "%s/file", scratch.path);
	fclose(fopen(path, "w"));
	assert_false(directory_open(path, &fd, &err));
	assert_non_null(strstr(err.msg, path));
	snprintf(path, sizeof(path), "%s/file/below", scratch.path);
	assert_false(directory_open(path, &fd, &err));
	assert_non_null(strstr(err.msg, path));
	assert_int_equal(fd, -1);

	scratch_remove(&scratch);
}

RUN_TESTS(TEST(creates_missing_directories_and_opens_existing_ones),
	  TEST(an_error_names_the_obstacle))
