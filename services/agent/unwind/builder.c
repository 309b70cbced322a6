// SPDX-License-Identifier: Apache-2.0
/*
 * decima-agent-builder - builds unwind tables from untrusted ELF files.
 *
 * The agent starts it when a table is not in the cache, and passes it one ELF file at a time and an
 * empty file to write the table to. It is a process of its own, so that a malformed file which
 * breaks the parser breaks nothing else, and so that its priority and memory can be limited and it
 * can be killed at any time. It ends when its socket is closed.
 */
#include "agent/agent_limits.h"
#include "agent/process/executable_file.h"
#include "agent/unwind/unwind_message_internal.h"
#include "agent/worker/worker_job.h"
#include "base/clock.h"

#include <stdio.h>

/* Lower priority than other work, but not idle priority: on a host that is never idle, stacks would
 * stay incomplete for ever. */
enum { NICE = 10 };

/* A file that was changed in place since it was mapped has another build id now. */
static bool has_expected_build_id(const struct unwind_job_message *job, int fd)
{
	struct executable now = { 0 };
	struct err err;
	bool is = executable_file_read(&now, fd, &err) && !strcmp(now.build_id, job->build_id);

	free((void *)(uintptr_t)now.segments);
	return is;
}

static struct unwind_response_message work(const struct unwind_job_message *job, int elf, int table)
{
	struct unwind_build_options options = { .memory_max = UNWIND_BUILDER_MEMORY_MAX / 2 };
	struct unwind_response_message response = { .outcome = UNWIND_CHANGED };
	struct unwind_build_result result = { 0 };
	struct err err = { 0 };
	uint64_t before_ns = clock_cpu_ns();

	if (has_expected_build_id(job, elf)) {
		response.outcome = UNWIND_BUILT;
		if (!unwind_build(&options, elf, table, &result, &err))
			response.outcome = result.reason;
	}
	response.rows = result.rows;
	response.cpu_ns = clock_cpu_ns() - before_ns;
	snprintf(response.error, sizeof(response.error), "%s", err.msg);
	return response;
}

int main(int argc, char **argv)
{
	static struct unwind_job_message job;
	int fds[WORKER_FDS_MAX];

	if (argc != 2 || strcmp(argv[1], "--for-the-agent") != 0) {
		fputs(UNWIND_BUILDER_NAME ": started by decima-agent only\n", stderr);
		return 2;
	}
	worker_job_restrict(&(struct worker_restrictions){ .data_max = UNWIND_BUILDER_MEMORY_MAX,
							   .nice = NICE });
	while (worker_job_receive(&job, sizeof(job), fds) && fds[1] >= 0) {
		struct unwind_response_message response = work(&job, fds[0], fds[1]);

		close(fds[0]);
		close(fds[1]);
		if (!worker_job_respond(&response, sizeof(response)))
			return 1;
	}
	return 0;
}
