// SPDX-License-Identifier: Apache-2.0
#include "base/failpoint.h"
#include "base/log.h"
#include "support/test.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static struct failpoint in_copy = { .name = "in-copy" };
static struct failpoint after_copy = { .name = "after-copy" };
static struct failpoint after_fence = { .name = "after-fence" };
static struct failpoint after_commit = { .name = "after-commit" };
static struct failpoint *const points[] = { &in_copy, &after_copy, &after_fence, &after_commit };
static const struct failpoint_table table = { "ingester", points, ARRAY_LEN(points) };

/* The wait status of a process that arms the failpoints and visits one `visits` times. */
static int status_after(const char *text, struct failpoint *point, int visits)
{
	pid_t child = fork();
	int status = 0;
	struct err err;

	assert_true(child >= 0);
	if (child == 0) {
		log_init("test", LOG_ERROR);
		if (!failpoint_arm(&table, text, &err))
			_exit(99);
		for (int i = 0; i < visits; i++)
			failpoint(point);
		_exit(visits);
	}
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	if (WIFSTOPPED(status)) {
		int last;

		assert_int_equal(kill(child, SIGCONT), 0);
		assert_int_equal(waitpid(child, &last, 0), child);
		assert_true(WIFEXITED(last));
		assert_int_equal(WEXITSTATUS(last),
				 visits); /* it continued, and stopped only once */
	}
	return status;
}

static bool killed(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static bool stopped(int status)
{
	return WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP;
}

static bool passed(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) != 99;
}

static void does_nothing_unless_it_is_armed(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(points); i++) {
		assert_true(passed(status_after("", points[i], 3)));
		assert_true(passed(status_after(NULL, points[i], 3)));
	}
	assert_true(passed(status_after("in-copy=kill", &after_copy, 3)));
}

static void kills_at_the_configured_visit(void **state)
{
	(void)state;
	assert_true(killed(status_after("in-copy=kill", &in_copy, 1)));
	assert_true(passed(status_after("in-copy=kill:3", &in_copy, 2)));
	assert_true(killed(status_after("in-copy=kill:3", &in_copy, 3)));
}

static void stops_once_and_continues_after_sigcont(void **state)
{
	(void)state;
	assert_true(stopped(status_after("after-fence=stop", &after_fence, 4)));
	assert_true(passed(status_after("after-fence=stop:2", &after_fence, 1)));
	assert_true(stopped(status_after("after-fence=stop:2", &after_fence, 4)));
}

static void several_are_armed_at_once(void **state)
{
	static const char text[] = "in-copy=stop:2,after-commit=kill";

	(void)state;
	assert_true(stopped(status_after(text, &in_copy, 2)));
	assert_true(killed(status_after(text, &after_commit, 1)));
}

static void an_error_names_what_is_wrong_with_the_setting(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "in-cop=kill", "the ingester has no failpoint \"in-cop\"; it has in-copy, " },
		{ "at-report=kill", "the ingester has no failpoint \"at-report\"" },
		{ "in-copy", "can kill or stop, but not \"\"" },
		{ "in-copy=none", "can kill or stop, but not \"none\"" },
		{ "in-copy=kill:0", "a number from 1, not \"0\"" },
		{ "in-copy=kill:", "a number from 1, not \"\"" },
		{ "in-copy=kill:1s", "a number from 1, not \"1s\"" },
		{ "after-copy=kill,after-copy=stop", "\"after-copy\" is set twice" },
		{ ",", "has no failpoint \"\"" },
		{ "in-copy=kill,", "has no failpoint \"\"" },
	};

	(void)state;
	log_init("test", LOG_ERROR);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = { 0 };

		assert_false(failpoint_arm(&table, rows[i].text, &err));
		assert_int_equal(err.code, ERR_INVALID);
		if (!strstr(err.msg, rows[i].says))
			fail_msg("%s: %s", rows[i].text, err.msg);
	}
}

RUN_TESTS(TEST(does_nothing_unless_it_is_armed), TEST(kills_at_the_configured_visit),
	  TEST(stops_once_and_continues_after_sigcont), TEST(several_are_armed_at_once),
	  TEST(an_error_names_what_is_wrong_with_the_setting))
