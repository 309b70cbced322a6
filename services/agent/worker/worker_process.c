// SPDX-License-Identifier: Apache-2.0
#include "agent/worker/worker_process.h"

#include "base/clock.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* In the directory of our own program. */
static bool find_program(const char *name, char *path, size_t cap, struct err *err)
{
	ssize_t len = readlink("/proc/self/exe", path, cap - 1);

	if (len <= 0)
		return err_errno(err, "read /proc/self/exe");
	path[len] = 0;

	char *slash = strrchr(path, '/');
	size_t room = cap - (size_t)(slash + 1 - path);

	if ((size_t)snprintf(slash + 1, room, "%s", name) >= room)
		return err_set(err, ERR_LIMIT, "the path of %s is too long", name);
	if (access(path, X_OK) != 0)
		return err_errno(err, "find %s", path);
	return true;
}

/* The child starts with no signal blocked. It inherits that SIGPIPE is ignored. */
static int spawn(pid_t *ret_pid, const char *path, char *const *argv, int socket)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int failed;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, socket, WORKER_SOCKET);
	failed = posix_spawn(ret_pid, path, &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return failed;
}

bool worker_process_start(struct worker_process *worker, const char *name, char **argv,
			  struct err *err)
{
	char path[PATH_MAX];
	int sockets[2];

	if (!find_program(name, path, sizeof(path), err))
		return false;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
		return err_errno(err, "create a socket pair");
	argv[0] = path;

	int failed = spawn(&worker->pid, path, argv, sockets[1]);

	argv[0] = NULL;
	close(sockets[1]);
	if (failed) {
		close(sockets[0]);
		worker->pid = 0;
		errno = failed;
		return err_errno(err, "start %s", path);
	}
	worker->socket = sockets[0];
	worker->started++;
	return true;
}

void worker_process_kill(struct worker_process *worker)
{
	struct rusage used = { 0 };

	if (!worker->pid)
		return;
	close(worker->socket);
	/* The worker has no state to save. */
	kill(worker->pid, SIGKILL);
	while (wait4(worker->pid, NULL, 0, &used) < 0 && errno == EINTR)
		;
	worker->pid = 0;
	worker->cpu_ns += (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * NS_PER_SECOND +
			  (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
	if ((uint64_t)used.ru_maxrss * 1024 > worker->peak_bytes)
		worker->peak_bytes = (uint64_t)used.ru_maxrss * 1024;
}

bool worker_process_send(struct worker_process *worker, const void *job, size_t len,
			 const int fds[WORKER_FDS_MAX])
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(WORKER_FDS_MAX * sizeof(int))];
	} control = { 0 };
	size_t fds_len = (fds[1] >= 0 ? 2 : 1) * sizeof(int);
	struct iovec bytes = { (void *)(uintptr_t)job, len };
	struct msghdr message = { .msg_iov = &bytes,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = CMSG_SPACE(fds_len) };
	struct cmsghdr *passed = CMSG_FIRSTHDR(&message);

	passed->cmsg_level = SOL_SOCKET;
	passed->cmsg_type = SCM_RIGHTS;
	passed->cmsg_len = CMSG_LEN(fds_len);
	memcpy(CMSG_DATA(passed), fds, fds_len);
	return sendmsg(worker->socket, &message, MSG_NOSIGNAL) == (ssize_t)len;
}

enum worker_reply worker_process_wait(struct worker_process *worker, uint64_t timeout_ms,
				      const struct cancel *cancel, void *ret_response, size_t len)
{
	struct pollfd waits[] = { { .fd = worker->socket, .events = POLLIN },
				  { .fd = cancel->fd, .events = POLLIN } };
	int ready = poll(waits, ARRAY_LEN(waits), (int)timeout_ms);

	if (cancel_requested(cancel))
		return WORKER_CANCELLED;
	if (ready <= 0)
		return WORKER_BUSY;
	return recv(worker->socket, ret_response, len, 0) == (ssize_t)len ? WORKER_RESPONDED
									  : WORKER_DIED;
}
