// SPDX-License-Identifier: Apache-2.0
/*
 * decima-agent-reader - reads the build id and the segments of untrusted ELF files.
 *
 * The agent passes it one file at a time. It parses them in a sandbox ("sandbox/sandbox_child.h"),
 * so a malformed file that takes it over gets nothing. It ends when its socket is closed.
 */
#include "agent/agent_limits.h"
#include "agent/files/file_message_internal.h"
#include "agent/process/executable_file.h"
#include "elf/htlhash.h"
#include "sandbox/sandbox_child.h"
#include "sandbox/sandbox_message.h"

static void read_file(int fd, struct file_read_response *response)
{
	struct executable file = { 0 };
	struct err err;

	response->is_elf = executable_file_read(&file, fd, &err);
	if (!response->is_elf)
		return;
	memcpy(response->build_id, file.build_id, sizeof(response->build_id));
	memcpy(response->hash, file.hash, sizeof(response->hash));
	response->segment_count = (uint32_t)file.segment_count;
	memcpy(response->segments, file.segments, file.segment_count * sizeof(*file.segments));
	free((void *)(uintptr_t)file.segments);
}

int main(int argc, char **argv)
{
	struct sandbox_rules rules = { .profile = SANDBOX_PARSER,
				       .name = FILE_READER_NAME,
				       .address_space_max = FILE_READER_MEMORY_MAX,
				       .file_max = 1,
				       .cpu_seconds_max = FILE_READER_CPU_SECONDS };
	struct file_read_message job;
	int fds[SANDBOX_FDS_MAX];
	struct err err;
	htlhash unused;

	if (!sandbox_arguments_parse(&rules, argc, argv))
		return 2;
	/* libcrypto reads its configuration file at its first use. */
	(void)!htlhash_of_image(STR(""), &unused, &err);
	if (!sandbox_enter(&rules))
		return 1;
	while (sandbox_message_receive(SANDBOX_SOCKET, &job, sizeof(job), fds) && fds[0] >= 0) {
		struct file_read_response response = { .is_elf = false };

		read_file(fds[0], &response);
		close(fds[0]);
		if (!sandbox_message_send(SANDBOX_SOCKET, &response, sizeof(response), NULL))
			break;
	}
	_exit(0);
}
