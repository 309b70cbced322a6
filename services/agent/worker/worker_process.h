// SPDX-License-Identifier: Apache-2.0
/*
 * worker_process - a child process that reads untrusted files for the agent, one job at a time.
 *
 * Files of other programs are parsed in a process of their own, so that a malformed file can crash
 * only this process. The owner starts the process when there is a job, and kills it when there is
 * no job left, when a job takes too long, or when the agent stops. Jobs and responses are datagrams
 * of fixed size. A zeroed struct is valid: no process runs. The worker's own side is
 * "agent/worker/worker_job.h". One thread at a time.
 */
#pragma once

#include "base/cancel.h"
#include "base/err.h"

#include <sys/types.h>

enum { WORKER_SOCKET = 3 };  /* the worker's descriptor of the socket pair */
enum { WORKER_FDS_MAX = 2 }; /* descriptors that one job may pass */

struct worker_process {
	/* cumulative: processes started; CPU time and most memory of those that have ended */
	uint64_t started, cpu_ns, peak_bytes;
	pid_t pid; /* 0: no process runs */
	/* private */
	int socket;
};

enum worker_reply {
	WORKER_RESPONDED,
	WORKER_BUSY, /* no response before the timeout */
	WORKER_DIED, /* the process ended, or its response has another length */
	WORKER_CANCELLED,
	WORKER_REPLY_COUNT
};

/*
 * Starts the program `name` in the directory of our own program. `argv` ends with NULL and is
 * borrowed during the call; argv[0] is set here. No process may run before. ERR_NOT_FOUND, ERR_IO,
 * ERR_LIMIT: no process runs. After success the caller must call worker_process_kill().
 */
bool worker_process_start(struct worker_process *worker, const char *name, char **argv,
			  struct err *err) MUST_CHECK;

/*
 * Sends a job of `len` bytes with one or two descriptors; fds[1] is -1 for one. The job is copied,
 * and the descriptors stay the caller's. False: the job cannot be sent, usually because the worker
 * has died; the caller kills the process.
 */
bool worker_process_send(struct worker_process *worker, const void *job, size_t len,
			 const int fds[WORKER_FDS_MAX]) MUST_CHECK;

/*
 * Waits at most timeout_ms for the response to a job. A response of another length than `len`
 * counts as WORKER_DIED. *ret_response is valid after WORKER_RESPONDED only. After WORKER_BUSY the
 * caller may wait again or kill the process, after WORKER_DIED and WORKER_CANCELLED it must kill
 * the process.
 */
enum worker_reply worker_process_wait(struct worker_process *worker, uint64_t timeout_ms,
				      const struct cancel *cancel, void *ret_response, size_t len);

/* Kills the process, waits for its end, and adds to cpu_ns and peak_bytes. Does nothing if no
 * process runs. */
void worker_process_kill(struct worker_process *worker);
