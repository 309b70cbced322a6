// SPDX-License-Identifier: Apache-2.0
#include "agent/worker/worker_job.h"

#include "base/str.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum { IOPRIO_PROCESS = 1, IOPRIO_IDLE = 3 << 13 };

static void bound(int resource, uint64_t max)
{
	struct rlimit limit = { max, max };

	(void)!setrlimit((__rlimit_resource_t)resource, &limit);
}

void worker_job_restrict(const struct worker_restrictions *restrictions)
{
	struct sched_param param = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)!syscall(SYS_close_range, WORKER_SOCKET + 1, ~0U, 0);

	/* The system may forbid any of these. A failure is ignored. */
	AUTO_FD fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	(void)!setpriority(PRIO_PROCESS, 0, restrictions->nice);
	if (restrictions->only_when_idle) {
		(void)!sched_setscheduler(0, SCHED_IDLE, &param);
		(void)!syscall(SYS_ioprio_set, IOPRIO_PROCESS, 0, IOPRIO_IDLE);
	}
	if (restrictions->address_space_max)
		bound(RLIMIT_AS, restrictions->address_space_max);
	if (restrictions->data_max)
		bound(RLIMIT_DATA, restrictions->data_max);
	bound(RLIMIT_CORE, 0);
	(void)!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (fd >= 0)
		(void)!write(fd, "1000", 4);
}

bool worker_job_receive(void *ret_job, size_t len, int ret_fds[WORKER_FDS_MAX])
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(WORKER_FDS_MAX * sizeof(int))];
	} control;
	struct iovec bytes = { ret_job, len };
	struct msghdr message = { .msg_iov = &bytes,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	int fds[WORKER_FDS_MAX] = { -1, -1 };

	if (recvmsg(WORKER_SOCKET, &message, MSG_CMSG_CLOEXEC) != (ssize_t)len)
		return false;

	const struct cmsghdr *passed = CMSG_FIRSTHDR(&message);

	if (passed && passed->cmsg_level == SOL_SOCKET && passed->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(passed),
		       passed->cmsg_len == CMSG_LEN(sizeof(fds)) ? sizeof(fds) : sizeof(int));
	memcpy(ret_fds, fds, sizeof(fds));
	return true;
}

bool worker_job_respond(const void *response, size_t len)
{
	return send(WORKER_SOCKET, response, len, MSG_NOSIGNAL) == (ssize_t)len;
}
