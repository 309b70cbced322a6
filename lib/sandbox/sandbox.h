// SPDX-License-Identifier: Apache-2.0
/*
 * sandbox - a child process that handles untrusted input, one job at a time.
 *
 * Files of others are parsed in a process of their own, which may do nothing but that: a malformed
 * file that takes it over gets nothing beside the descriptors of its own job. The owner starts the
 * process, sends jobs, and stops the process when there is no job left or a job takes too long. The
 * process's own side is "sandbox/sandbox_child.h", which also says what it may do. Jobs and
 * responses are datagrams of fixed size with descriptors ("sandbox/sandbox_message.h").
 *
 *     struct sandbox sandbox = { 0 };
 *     if (!sandbox_start(&sandbox, &options, err)) ...
 *     if (sandbox_send(&sandbox, &job, sizeof(job), fds))
 *             reply = sandbox_wait(&sandbox, 60000, cancel, &response, sizeof(response), fds);
 *     end = sandbox_stop(&sandbox, reply);
 *
 * A zeroed struct is valid: no process runs. One thread at a time; the thread that starts a process
 * must outlive it, since the process dies with that thread.
 */
#pragma once

#include "base/cancel.h"
#include "sandbox/limits.h"
#include "sandbox/sandbox_message.h"

#include <sys/types.h>

/* What became of a process. */
enum sandbox_end {
	SANDBOX_END_STOPPED,      /* the owner stopped it, or it exited with status 0 */
	SANDBOX_END_TIMEOUT,      /* a job took too long */
	SANDBOX_END_CPU_TIME,     /* it used more CPU time than its limit */
	SANDBOX_END_MEMORY,       /* an allocation beyond its limit failed */
	SANDBOX_END_FILE_SIZE,    /* it wrote a larger file than its limit */
	SANDBOX_END_FORBIDDEN,    /* it made a system call that it may not make */
	SANDBOX_END_BAD_RESPONSE, /* it sent something that is no response, or closed its socket */
	SANDBOX_END_CRASHED,      /* another signal, or an exit status other than 0 */
	SANDBOX_END_KILLED,       /* another process killed it, usually the kernel's OOM killer */
	SANDBOX_END_COUNT
};
extern const char *const sandbox_end_names[SANDBOX_END_COUNT];

enum sandbox_reply {
	SANDBOX_RESPONDED,
	SANDBOX_BUSY,    /* no response before the timeout */
	SANDBOX_DIED,    /* the process has closed its socket */
	SANDBOX_INVALID, /* the response is malformed */
	SANDBOX_CANCELLED,
};

struct sandbox {
	/* cumulative: processes started; CPU time and most memory of those that have ended */
	uint64_t started, cpu_ns, peak_bytes;
	pid_t pid;         /* 0: no process runs */
	uint32_t skipped;  /* restrictions that the system did not allow: 1 << enum sandbox_step */
	size_t left_count; /* processes that were killed and have not ended */
	/* private */
	int socket;
	uint64_t cpu_seconds_max;
	pid_t left[SANDBOX_LEFT_MAX]; /* 0: a free place */
};

struct sandbox_options {
	const char *program;          /* in our own program's directory; NULL: our own program */
	const char *const *arguments; /* after the program's name; ends with NULL */
	bool keeps_environment;       /* else it is empty: it may hold secrets */
	const struct cancel *cancel;  /* ends the start early; NULL: none */
};

/*
 * Starts a process and waits until it has restricted itself. A restriction that the system does not
 * allow and that may be missing is logged once. No process may run before. The options are borrowed
 * during the call. ERR_NOT_FOUND, ERR_IO, ERR_LIMIT, ERR_CANCELLED: no process runs; the message
 * says which step failed. ERR_BUSY: SANDBOX_LEFT_MAX processes were left behind. After success the
 * caller must call sandbox_stop().
 */
bool sandbox_start(struct sandbox *sandbox, const struct sandbox_options *options,
		   struct err *err) MUST_CHECK;

/* Sends a job, as sandbox_message_send(). */
bool sandbox_send(struct sandbox *sandbox, const void *job, size_t len, const int *fds) MUST_CHECK;

/*
 * Waits at most timeout_ms for a response of `len` bytes. *ret_response and ret_fds, which is used
 * as by sandbox_message_receive(), are valid after SANDBOX_RESPONDED only. After SANDBOX_BUSY the
 * caller may wait again; after any other value it must stop the process.
 */
enum sandbox_reply sandbox_wait(struct sandbox *sandbox, uint64_t timeout_ms,
				const struct cancel *cancel, void *ret_response, size_t len,
				int *ret_fds);

/*
 * Ends the process, counts why it ended in decima_sandbox_ends_total, and adds to cpu_ns and
 * peak_bytes. `reply` is why the caller stops it: SANDBOX_RESPONDED and SANDBOX_CANCELLED if it is
 * not needed any more, SANDBOX_BUSY if a job takes too long. After SANDBOX_DIED the function waits
 * up to SANDBOX_END_MS for an end that is under way. A process that reads a file of a hung network
 * or FUSE file system does not end when it is killed: it is left behind after SANDBOX_KILL_MS, and
 * a later call of sandbox_start() or sandbox_stop() reaps it. Does nothing else if no
 * process runs.
 */
enum sandbox_end sandbox_stop(struct sandbox *sandbox, enum sandbox_reply reply);

/* Counts the end of a process whose owner has no metrics and reports it to the caller. */
void sandbox_count(enum sandbox_end end);

struct metric;
extern struct metric *const sandbox_metrics[];
