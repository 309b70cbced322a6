// SPDX-License-Identifier: Apache-2.0
/*
 * decima-agent-builder - builds unwind tables from untrusted ELF files.
 *
 * The agent starts it when a table is not in the cache, and passes it one ELF file at a time and an
 * empty file to write the table to. It parses them in a sandbox ("sandbox/sandbox_child.h"), so a
 * malformed file that takes it over gets nothing. It ends when its socket is closed.
 */
#include "agent/agent_limits.h"
#include "agent/process/executable_file.h"
#include "agent/unwind/unwind_message_internal.h"
#include "base/clock.h"
#include "elf/htlhash.h"
#include "sandbox/sandbox_child.h"
#include "sandbox/sandbox_message.h"

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
	struct sandbox_rules rules = { .profile = SANDBOX_PARSER,
				       .name = UNWIND_BUILDER_NAME,
				       .address_space_max = UNWIND_BUILDER_MEMORY_MAX,
				       .file_max = UNWIND_BUILDER_MEMORY_MAX / 2,
				       .cpu_seconds_max = UNWIND_BUILDER_CPU_SECONDS,
				       .nice = NICE };
	int fds[SANDBOX_FDS_MAX];
	struct err err;
	htlhash unused;

	if (!sandbox_arguments_parse(&rules, argc, argv))
		return 2;
	/* libcrypto reads its configuration file at its first use. */
	(void)!htlhash_of_image(STR(""), &unused, &err);
	if (!sandbox_enter(&rules))
		return 1;
	while (sandbox_message_receive(SANDBOX_SOCKET, &job, sizeof(job), fds) && fds[1] >= 0) {
		struct unwind_response_message response = work(&job, fds[0], fds[1]);

		close(fds[0]);
		close(fds[1]);
		if (!sandbox_message_send(SANDBOX_SOCKET, &response, sizeof(response), NULL))
			break;
	}
	_exit(0);
}
