// SPDX-License-Identifier: Apache-2.0
/*
 * decima-agent-builder - reads the unwind rows out of ELF files that strangers made.
 *
 * The agent starts it when a table is wanted that is in no cache, and hands it one file at a time,
 * and where to write. It is apart so that a file which was made to break its reader breaks nothing
 * else, and so that it may be slowed down, bounded and ended at any time. It ends with its socket.
 */
#include "agent_limits.h"
#include "base/clock.h"
#include "executable_file.h"
#include "unwind_message.h"
#include "worker_job.h"

#include <stdio.h>

/* Behind the work of the machine, but not behind all of it: on a host that is never idle stacks
 * would stay in pieces for good. */
enum { NICE = 10 };

/* A file that was changed in place has another build id than when it was mapped. */
static bool is_the_one(const struct unwind_job_message *job, int fd)
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

	if (is_the_one(job, elf)) {
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
		fputs(UNWIND_BUILDER_NAME ": the agent starts this, nobody else\n", stderr);
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
