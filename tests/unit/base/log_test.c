// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

/* The log line written to stderr. */
static void logged(const char *field, char *line, size_t cap)
{
	int pipe_fds[2], saved = dup(STDERR_FILENO);
	ssize_t len;

	assert_int_equal(pipe(pipe_fds), 0);
	dup2(pipe_fds[1], STDERR_FILENO);
	log_info("a test", "path=\"%s\"", field);
	log_debug("below the threshold", "x=1");
	dup2(saved, STDERR_FILENO);
	len = read(pipe_fds[0], line, cap - 1);
	assert_true(len > 0);
	line[len] = 0;
	close(saved);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

static void untrusted_text_cannot_start_a_log_line(void **state)
{
	char line[512];

	(void)state;
	log_init("test", LOG_INFO);
	logged("/x\nts=2026 level=error \x1b[31m", line, sizeof(line));
	assert_string_equal(strstr(line, " level=info"), " level=info svc=test msg=\"a test\" "
							 "path=\"/x?ts=2026 level=error ?[31m\"\n");
}

RUN_TESTS(TEST(untrusted_text_cannot_start_a_log_line))
