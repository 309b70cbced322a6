// SPDX-License-Identifier: Apache-2.0
/*
 * side_by_side - tests that mostly wait: each in a process of its own, all at once.
 *
 *     RUN_SIDE_BY_SIDE(TEST(...), TEST(...))       in the place of RUN_TESTS
 *
 * It speaks TAP itself. What a test printed that failed stands below it.
 */
#pragma once

#include "support/test.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIDE_BY_SIDE_MAX = 32 };

static inline pid_t side_by_side_start(const struct CMUnitTest *test, FILE *output)
{
	pid_t parent = getpid(), child = fork();

	if (child)
		return child;

	const struct CMUnitTest alone[] = { *test };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	dup2(fileno(output), STDOUT_FILENO);
	dup2(fileno(output), STDERR_FILENO);
	exit(cmocka_run_group_tests(alone, NULL, NULL)); /* NOLINT(concurrency-mt-unsafe): alone */
}

static inline void side_by_side_print(FILE *output)
{
	char line[512];

	rewind(output);
	while (fgets(line, sizeof(line), output))
		printf("# %s%s", line, strchr(line, '\n') ? "" : "\n");
}

static inline int side_by_side_run(const struct CMUnitTest *tests, size_t count)
{
	pid_t children[SIDE_BY_SIDE_MAX];
	FILE *outputs[SIDE_BY_SIDE_MAX];
	int failed = 0;

	assert_true(count <= SIDE_BY_SIDE_MAX);
	printf("1..%zu\n", count);
	fflush(stdout); /* else each child prints it again */
	for (size_t i = 0; i < count; i++) {
		outputs[i] = tmpfile();
		assert_non_null(outputs[i]);
		children[i] = side_by_side_start(&tests[i], outputs[i]);
		assert_true(children[i] > 0);
	}
	for (size_t i = 0; i < count; i++) {
		int status = 0;
		bool good = waitpid(children[i], &status, 0) == children[i] && status == 0;

		printf("%sok %zu - %s\n", good ? "" : "not ", i + 1, tests[i].name);
		if (!good)
			side_by_side_print(outputs[i]);
		fclose(outputs[i]);
		failed += !good;
	}
	return failed;
}

#define RUN_SIDE_BY_SIDE(...)                                      \
	int main(void)                                             \
	{                                                          \
		const struct CMUnitTest tests[] = { __VA_ARGS__ }; \
		return side_by_side_run(tests, ARRAY_LEN(tests));  \
	}
