// SPDX-License-Identifier: Apache-2.0
/*
 * worker_process - a child process that reads untrusted files for the agent, one job at a time.
 *
 * Files of other programs are parsed in a process of their own, so that a malformed file which
 * breaks its parser breaks nothing else. The owner starts the process when there is a job, and
 * kills it when there is no job left, when a job takes too long, or when the agent stops. Jobs and
 * responses are datagrams of fixed size. The worker's own side is worker_job.h. One thread at a
 * time.
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
	WORKER_DIED, /* it ended, or its response is malformed */
	WORKER_CANCELLED,
	WORKER_REPLY_COUNT
};

/*
 * Start the program `name` of our own program's directory. `argv` ends with NULL; argv[0] is set
 * here. On failure no process runs.
 */
bool worker_process_start(struct worker_process *worker, const char *name, char **argv,
			  struct err *err) MUST_CHECK;

/*
 * Send a job with one or two descriptors; fds[1] -1: one. The descriptors stay the caller's. False:
 * the worker has died.
 */
bool worker_process_send(struct worker_process *worker, const void *job, size_t len,
			 const int fds[WORKER_FDS_MAX]) MUST_CHECK;

/*
 * Wait for the response to a job. A response of another length than `len` counts as
 * WORKER_DIED. After any reply but WORKER_RESPONDED the caller still has to kill the process;
 * after WORKER_BUSY it may wait again instead.
 */
enum worker_reply worker_process_wait(struct worker_process *worker, uint64_t timeout_ms,
				      const struct cancel *cancel, void *ret_response, size_t len);

/* Kill the process and wait for its end; adds to cpu_ns and peak_bytes. */
void worker_process_kill(struct worker_process *worker);
