// SPDX-License-Identifier: Apache-2.0
/*
 * decima-agent-opener - finds and opens the files that processes of the host map.
 *
 * The agent starts it, because a file system of the network or of a user may hang, and then the
 * process that waits for it cannot be killed: the agent leaves it behind and starts another one.
 * It parses nothing. It ends when its socket is closed.
 */
#include "agent/agent_limits.h"
#include "agent/files/file_message_internal.h"
#include "sandbox/capabilities.h"
#include "sandbox/sandbox_child.h"
#include "sandbox/sandbox_message.h"

#include <stdio.h>

/* Files of all users, /proc/PID of all processes, and /proc/PID/map_files. */
static uint64_t capabilities(void)
{
	return 1ULL << CAP_DAC_READ_SEARCH | 1ULL << CAP_SYS_PTRACE |
	       capability_or_admin(CAP_CHECKPOINT_RESTORE);
}

static void find(const struct file_job_message *job, struct file_job_response *response, int *fds)
{
	const struct executable_claim claim = {
		.pid = job->pid,
		.parent_pid = job->parent_pid,
		.start = job->start,
		.end = job->end,
		.path = { job->path, job->path_len },
		.build_id = { (const char *)job->build_id, job->build_id_len },
		.inode = job->inode,
		.device_major = job->device_major,
		.device_minor = job->device_minor,
	};
	struct file_location location;

	file_locate(&claim, (enum file_way)job->way, job->may_wait, &location);
	response->way = location.way;
	response->must_wait = location.must_wait;
	response->is_local = location.is_local;
	response->is_trusted = location.is_trusted;
	response->key = location.key;
	response->has_root = location.root >= 0;
	fds[0] = location.file;
	fds[1] = location.root;
}

static void open_found(const struct file_job_message *job, int file,
		       struct file_job_response *response, int *fds)
{
	struct err err = { 0 };

	fds[0] = file_open(file, job->is_local, &err);
	response->way = fds[0] >= 0 ? job->way : FILE_WAY_COUNT;
	snprintf(response->error, sizeof(response->error), "%s", err.msg);
}

static void close_all(const int fds[SANDBOX_FDS_MAX])
{
	for (size_t i = 0; i < SANDBOX_FDS_MAX; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

int main(void)
{
	static struct file_job_message job;
	const struct sandbox_rules rules = { .profile = SANDBOX_HELPER,
					     .name = FILE_OPENER_NAME,
					     .capabilities = capabilities(),
					     .address_space_max = FILE_OPENER_MEMORY_MAX };
	int fds[SANDBOX_FDS_MAX];

	if (!sandbox_enter(&rules))
		return 1;
	while (sandbox_message_receive(SANDBOX_SOCKET, &job, sizeof(job), fds)) {
		struct file_job_response response = { .way = FILE_WAY_COUNT };
		int results[SANDBOX_FDS_MAX] = { -1, -1, -1 };

		if (fds[0] >= 0)
			open_found(&job, fds[0], &response, results);
		else
			find(&job, &response, results);

		bool sent =
			sandbox_message_send(SANDBOX_SOCKET, &response, sizeof(response), results);

		close_all(results);
		close_all(fds);
		if (!sent)
			break;
	}
	_exit(0);
}
