// SPDX-License-Identifier: Apache-2.0
/*
 * worker_job - the worker process's own side of "agent/worker/worker_process.h": restrict itself,
 * receive jobs, respond.
 *
 * One thread, the worker's.
 */
#pragma once

#include "agent/worker/worker_process.h"

struct worker_restrictions {
	uint64_t address_space_max; /* bytes; 0: unlimited, since large files are mapped */
	uint64_t data_max;          /* bytes of memory beside mapped files; 0: unlimited */
	int nice;                   /* nice value of the process, -20 to 19 */
	bool only_when_idle;        /* idle class of the CPU and I/O schedulers */
};

/*
 * Called first in the worker: the process is killed when the agent ends, closes all descriptors
 * above WORKER_SOCKET, and limits its memory and priority. Cannot fail: if the system forbids a
 * restriction, the process continues without it.
 */
void worker_job_restrict(const struct worker_restrictions *restrictions);

/*
 * Waits for a job of `len` bytes. The caller closes the descriptors; a descriptor that was not sent
 * is -1. False, with ret_fds unchanged: the agent closed the socket, or the job has another length;
 * the worker should exit.
 */
bool worker_job_receive(void *ret_job, size_t len, int ret_fds[WORKER_FDS_MAX]) MUST_CHECK;

/* Sends the response to the last job. False: the agent is gone; the worker should exit. */
bool worker_job_respond(const void *response, size_t len) MUST_CHECK;
