// SPDX-License-Identifier: Apache-2.0
#include "sandbox/sandbox.h"

#include "base/clock.h"
#include "base/liveness.h"
#include "base/log.h"
#include "base/str.h"
#include "sandbox/limits.h"
#include "sandbox/sandbox_child.h"
#include "sandbox/sandbox_internal.h"
#include "server/metrics/metrics.h"

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

enum { ARGUMENTS_MAX = 8 };

const char *const sandbox_end_names[SANDBOX_END_COUNT] = {
	[SANDBOX_END_STOPPED] = "stopped",
	[SANDBOX_END_TIMEOUT] = "timeout",
	[SANDBOX_END_CPU_TIME] = "cpu_time",
	[SANDBOX_END_MEMORY] = "memory",
	[SANDBOX_END_FILE_SIZE] = "file_size",
	[SANDBOX_END_FORBIDDEN] = "forbidden_call",
	[SANDBOX_END_BAD_RESPONSE] = "bad_response",
	[SANDBOX_END_CRASHED] = "crashed",
	[SANDBOX_END_KILLED] = "killed",
};

static const char *const step_names[SANDBOX_STEP_COUNT] = {
	[SANDBOX_STEP_OOM_SCORE] = "oom_score_adj",
	[SANDBOX_STEP_PRIORITY] = "priority",
	[SANDBOX_STEP_USER] = "user",
	[SANDBOX_STEP_BOUNDING] = "bounding_set",
};

#define SANDBOX_METRICS(ROW)                                                                     \
	ROW(ends, METRIC_COUNTER, "decima_sandbox_ends_total",                                   \
	    "Ended child processes that handle untrusted files, by reason. stopped: not needed " \
	    "any more; forbidden_call: a system call that a parser may not make; killed: by "    \
	    "another process, usually the kernel's OOM killer.",                                 \
	    METRIC_LABEL("reason", sandbox_end_names, SANDBOX_END_COUNT))                        \
	ROW(left_now, METRIC_GAUGE, "decima_sandbox_left_processes",                             \
	    "Child processes that were killed and have not ended, because they wait for a file " \
	    "of a hung file system.")

METRICS(sandbox_metrics, SANDBOX_METRICS);

static _Atomic int64_t left_of_all;

void sandbox_count(enum sandbox_end end)
{
	metric_add_at(&ends, end, 1);
}

/* In the directory of our own program, or our own program, also after it was replaced. */
static bool find_program(const char *name, char *path, size_t cap, struct err *err)
{
	if (!name) {
		snprintf(path, cap, "/proc/self/exe");
		return true;
	}

	ssize_t len = readlink("/proc/self/exe", path, cap - 1);

	if (len <= 0)
		return err_errno(err, "read /proc/self/exe");
	path[len] = 0;

	char *slash = strrchr(path, '/');
	size_t room = cap - (size_t)(slash + 1 - path);

	if ((size_t)snprintf(slash + 1, room, "%s", name) >= room)
		return err_set(err, ERR_LIMIT, "the path of %s is too long", name);
	return access(path, X_OK) == 0 || err_errno(err, "find %s", path);
}

static bool keeps_environment(const struct sandbox_options *options)
{
#ifdef SANDBOX_SANITIZED /* it has the options of the sanitizers */
	(void)options;
	return true;
#else
	return options->keeps_environment;
#endif
}

/* The child starts with no signal blocked. It inherits that SIGPIPE is ignored. */
static int spawn(pid_t *ret_pid, const char *path, const struct sandbox_options *options,
		 int socket)
{
	const char *argv[ARGUMENTS_MAX + 2] = { path };
	char *none[] = { NULL };
	char **environment = keeps_environment(options) ? environ : none;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t no_signals;
	int failed;

	for (size_t i = 0; i < ARGUMENTS_MAX && options->arguments && options->arguments[i]; i++)
		argv[i + 1] = options->arguments[i];
	sigemptyset(&no_signals);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &no_signals);
	/* With a session of its own it has no part of the priority of the owner's. */
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
	posix_spawn_file_actions_adddup2(&actions, socket, SANDBOX_SOCKET);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_addclosefrom_np(&actions, SANDBOX_SOCKET + 1);
	/* execve() does not write to its arguments. */
	failed = posix_spawn(ret_pid, path, &actions, &attributes, (char **)(uintptr_t)argv,
			     environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return failed;
}

static void log_skipped(struct sandbox *sandbox, const char *path, uint32_t skipped)
{
	for (size_t i = 0; i < SANDBOX_STEP_COUNT; i++)
		if ((skipped & ~sandbox->skipped) >> i & 1)
			log_info("sandbox without a restriction that the system does not allow",
				 "program=%s restriction=%s", path, step_names[i]);
	sandbox->skipped |= skipped;
}

/* Wait until the process has restricted itself. */
static bool receive_hello(struct sandbox *sandbox, const char *path, const struct cancel *cancel,
			  struct err *err)
{
	struct sandbox_hello hello;
	enum sandbox_reply reply =
		sandbox_wait(sandbox, SANDBOX_START_MS, cancel, &hello, sizeof(hello), NULL);

	if (reply == SANDBOX_RESPONDED && hello.is_restricted) {
		sandbox->cpu_seconds_max = hello.cpu_seconds_max;
		log_skipped(sandbox, path, hello.skipped);
		return true;
	}
	hello.error[sizeof(hello.error) - 1] = 0;
	if (reply == SANDBOX_RESPONDED)
		err_set(err, ERR_IO, "start %s: %s", path, hello.error);
	else if (reply == SANDBOX_CANCELLED)
		err_set(err, ERR_CANCELLED, "start %s: cancelled", path);
	else
		err_set(err, ERR_IO, "start %s: it does not respond", path);
	sandbox_stop(sandbox, reply);
	return false;
}

static uint64_t ns_of(struct timeval time)
{
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_usec * 1000;
}

static void add_usage(struct sandbox *sandbox, const struct rusage *used)
{
	sandbox->cpu_ns += ns_of(used->ru_utime) + ns_of(used->ru_stime);
	if ((uint64_t)used->ru_maxrss * 1024 > sandbox->peak_bytes)
		sandbox->peak_bytes = (uint64_t)used->ru_maxrss * 1024;
}

/* A free place for a process to be left behind, after those that have ended are reaped. NULL: all
 * are taken. */
static pid_t *place_of_left(struct sandbox *sandbox)
{
	pid_t *place = NULL;

	for (size_t i = 0; i < SANDBOX_LEFT_MAX; i++) {
		struct rusage used;
		int status;

		if (sandbox->left[i] &&
		    wait4(sandbox->left[i], &status, WNOHANG, &used) == sandbox->left[i]) {
			sandbox->left[i] = 0;
			sandbox->left_count--;
			metric_set(&left_now, --left_of_all);
			add_usage(sandbox, &used);
		}
		if (!sandbox->left[i])
			place = &sandbox->left[i];
	}
	return place;
}

bool sandbox_start(struct sandbox *sandbox, const struct sandbox_options *options, struct err *err)
{
	char path[PATH_MAX];
	int sockets[2];
	pid_t pid;

	if (!place_of_left(sandbox))
		return err_set(err, ERR_BUSY, "%d processes were killed and have not ended",
			       SANDBOX_LEFT_MAX);
	if (!find_program(options->program, path, sizeof(path), err))
		return false;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
		return err_errno(err, "create a socket pair");

	int failed = spawn(&pid, path, options, sockets[1]);

	close(sockets[1]);
	if (failed) {
		close(sockets[0]);
		errno = failed;
		return err_errno(err, "start %s", path);
	}
	sandbox->pid = pid;
	sandbox->socket = sockets[0];
	sandbox->cpu_seconds_max = 0;
	sandbox->started++;
	return receive_hello(sandbox, path, options->cancel, err);
}

bool sandbox_send(struct sandbox *sandbox, const void *job, size_t len, const int *fds)
{
	return sandbox_message_send(sandbox->socket, job, len, fds);
}

enum sandbox_reply sandbox_wait(struct sandbox *sandbox, uint64_t timeout_ms,
				const struct cancel *cancel, void *ret_response, size_t len,
				int *ret_fds)
{
	uint64_t deadline_ns = clock_monotonic_ns() + timeout_ms * NS_PER_MS;
	struct pollfd waits[] = { { .fd = sandbox->socket, .events = POLLIN },
				  { .fd = cancel ? cancel->fd : -1, .events = POLLIN } };
	char first;

	for (;;) {
		uint64_t now_ns = clock_monotonic_ns();
		uint64_t left_ms =
			now_ns < deadline_ns ? (deadline_ns - now_ns) / NS_PER_MS + 1 : 0;
		int part_ms = liveness_wait_ms(left_ms);
		int ready = poll(waits, ARRAY_LEN(waits), part_ms);

		if (cancel_requested(cancel))
			return SANDBOX_CANCELLED;
		if (ready > 0)
			break;
		if (!left_ms)
			return SANDBOX_BUSY;
	}
	if (sandbox_message_receive(sandbox->socket, ret_response, len, ret_fds))
		return SANDBOX_RESPONDED;
	return recv(sandbox->socket, &first, 1, MSG_PEEK | MSG_DONTWAIT) == 0 ? SANDBOX_DIED
									      : SANDBOX_INVALID;
}

/* Wait for the end that is under way. False: the process still runs. */
static bool reap(pid_t pid, uint64_t timeout_ms, int *ret_status, struct rusage *ret_used)
{
	uint64_t deadline_ns = clock_monotonic_ns() + timeout_ms * NS_PER_MS;

	do {
		if (wait4(pid, ret_status, WNOHANG, ret_used) == pid)
			return true;
		clock_sleep_ms(1);
	} while (clock_monotonic_ns() < deadline_ns);
	return false;
}

/* Why the process ended by itself. */
static enum sandbox_end end_of(const struct sandbox *sandbox, int status, uint64_t cpu_ns)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return SANDBOX_END_STOPPED;
	if (WIFEXITED(status) && WEXITSTATUS(status) == SANDBOX_EXIT_MEMORY)
		return SANDBOX_END_MEMORY;
	if (WIFEXITED(status))
		return SANDBOX_END_CRASHED;
	switch (WTERMSIG(status)) {
	case SIGSYS:
		return SANDBOX_END_FORBIDDEN;
	case SIGXCPU:
		return SANDBOX_END_CPU_TIME;
	case SIGXFSZ:
		return SANDBOX_END_FILE_SIZE;
	case SIGKILL: /* of the hard limit, if the process ignored SIGXCPU */
		return sandbox->cpu_seconds_max &&
				       cpu_ns >= sandbox->cpu_seconds_max * NS_PER_SECOND
			       ? SANDBOX_END_CPU_TIME
			       : SANDBOX_END_KILLED;
	default:
		return SANDBOX_END_CRASHED;
	}
}

/* sandbox_start() has made sure of a place. */
static void leave_behind(struct sandbox *sandbox)
{
	log_warn("sandboxed process does not end, left behind", "pid=%d killed_ms=%d",
		 (int)sandbox->pid, SANDBOX_KILL_MS);
	*place_of_left(sandbox) = sandbox->pid;
	sandbox->left_count++;
	metric_set(&left_now, ++left_of_all);
}

enum sandbox_end sandbox_stop(struct sandbox *sandbox, enum sandbox_reply reply)
{
	static const enum sandbox_end ends_of[] = {
		[SANDBOX_RESPONDED] = SANDBOX_END_STOPPED,
		[SANDBOX_BUSY] = SANDBOX_END_TIMEOUT,
		[SANDBOX_DIED] = SANDBOX_END_BAD_RESPONSE,
		[SANDBOX_INVALID] = SANDBOX_END_BAD_RESPONSE,
		[SANDBOX_CANCELLED] = SANDBOX_END_STOPPED,
	};
	enum sandbox_end end = ends_of[reply];
	struct rusage used = { 0 };
	int status = 0;

	(void)place_of_left(sandbox);
	if (!sandbox->pid)
		return SANDBOX_END_STOPPED;

	bool has_ended =
		reap(sandbox->pid, reply == SANDBOX_DIED ? SANDBOX_END_MS : 0, &status, &used);

	close(sandbox->socket);
	if (!has_ended) { /* the process has no state to save */
		kill(sandbox->pid, SIGKILL);
		if (!reap(sandbox->pid, SANDBOX_KILL_MS, &status, &used))
			leave_behind(sandbox);
	}
	if (has_ended)
		end = end_of(sandbox, status, ns_of(used.ru_utime) + ns_of(used.ru_stime));
	add_usage(sandbox, &used);
	sandbox->pid = 0;
	sandbox_count(end);
	return end;
}
