// SPDX-License-Identifier: Apache-2.0
/*
 * decima-symbolizer-builder - the process's own side of "symbolizer/build/build_worker.h".
 */
#include "symbolizer/build/build_worker.h"

#include "sandbox/sandbox_child.h"
#include "sandbox/sandbox_message.h"
#include "symbolizer/symbolizer_limits.h"
#include "symbols/symbol_build.h"

#include <stdio.h>

static void build(int fd, int alt_fd, int out, struct build_report *report)
{
	struct symbol_build_options options = { .memory_max = BUILD_MEMORY_MAX / 2,
						.alt_fd = alt_fd };
	struct err err = { 0 };

	report->stage = BUILD_DONE;
	report->reason = NAME_KNOWN;
	if (symbol_build(&options, fd, out, &err))
		return;
	report->reason = err.code == ERR_LIMIT
				 ? NAME_TOO_LARGE
				 : (err.code == ERR_IO ? NAME_UNAVAILABLE : NAME_MALFORMED);
	snprintf(report->why, sizeof(report->why), "%s", err.msg);
}

static bool run_job(void)
{
	int fds[SANDBOX_FDS_MAX], alt[SANDBOX_FDS_MAX] = { -1, -1, -1 };
	struct build_report report = { .stage = BUILD_NEEDS_ALT };
	struct build_job job;

	if (!sandbox_message_receive(SANDBOX_SOCKET, &job, sizeof(job), fds))
		return false;
	if (symbol_build_alt_id(fds[0], &report.alt_id) &&
	    (!sandbox_message_send(SANDBOX_SOCKET, &report, sizeof(report), NULL) ||
	     !sandbox_message_receive(SANDBOX_SOCKET, &job, sizeof(job), alt)))
		return false;
	build(fds[0], alt[0], fds[1], &report);
	return sandbox_message_send(SANDBOX_SOCKET, &report, sizeof(report), NULL);
}

int main(int argc, char **argv)
{
	struct sandbox_rules rules = { .profile = SANDBOX_PARSER,
				       .name = "symbols-build",
				       .address_space_max = BUILD_MEMORY_MAX,
				       .file_max = DEBUG_FILE_MAX,
				       .cpu_seconds_max = BUILD_SECONDS,
				       .nice = WORKER_NICE };

	if (!sandbox_arguments_parse(&rules, argc, argv))
		return 2;
	if (!sandbox_enter(&rules))
		return 1;
	_exit(!run_job());
}
