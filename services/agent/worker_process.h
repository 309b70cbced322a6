// SPDX-License-Identifier: Apache-2.0
/*
 * worker - a program beside the agent that does one thing at a time for it, in a process of its
 * own: what reads files that strangers made, so that a file which was made to break its reader
 * breaks nothing else.
 *
 * It is started when there is something to do, and ended when there is nothing more, when it took
 * too long, or with us. Jobs and answers are datagrams of fixed size. One thread at a time.
 */
#pragma once

#include "base/err.h"
#include "base/stop.h"

#include <sys/types.h>

enum { WORKER_SOCKET = 3 };  /* the worker's end */
enum { WORKER_FDS_MAX = 2 }; /* that go along with a job */

struct worker_process {
	/* Of all of them so far that have ended. */
	uint64_t started, cpu_ns, peak_bytes;
	pid_t pid; /* 0: none runs */
	/* private */
	int socket;
};

enum worker_reply {
	WORKER_RESPONDED,
	WORKER_BUSY,
	WORKER_DIED,
	WORKER_CANCELLED,
	WORKER_REPLY_COUNT
};

/* `name` lies beside our own program. The arguments end with NULL; argv[0] is set here. */
bool worker_process_start(struct worker_process *worker, const char *name, char **argv,
			  struct err *err) MUST_CHECK;

/* Hand it a job. The descriptors stay ours; those that are -1 at the end are left out. */
bool worker_process_send(struct worker_process *worker, const void *job, size_t len,
			 const int fds[WORKER_FDS_MAX]) MUST_CHECK;

/*
 * Wait for what became of it. An answer of another length is that of a worker gone mad: it counts
 * as dead. Who has died, or was stopped, is still to be ended.
 */
enum worker_reply worker_process_wait(struct worker_process *worker, uint64_t timeout_ms,
				      const struct stop *stop, void *ret_response, size_t len);

void worker_process_kill(struct worker_process *worker);
