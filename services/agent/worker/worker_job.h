// SPDX-License-Identifier: Apache-2.0
/*
 * worker_job - the worker's own side of worker_process.h: restrict itself, receive jobs, respond.
 */
#pragma once

#include "agent/worker/worker_process.h"

struct worker_restrictions {
	uint64_t address_space_max; /* bytes; 0: unlimited, since large files are mapped */
	uint64_t data_max;          /* bytes of memory beside mapped files; 0: unlimited */
	int nice;
	bool only_when_idle; /* idle class of the CPU and I/O schedulers */
};

/*
 * Called first: the process ends with the agent, closes all descriptors but its socket, and limits
 * its memory and priority. Where the system forbids a restriction, the process goes on without it.
 */
void worker_job_restrict(const struct worker_restrictions *restrictions);

/* Wait for a job. A descriptor that was not sent is -1. False: the agent closed the socket. */
bool worker_job_receive(void *ret_job, size_t len, int ret_fds[WORKER_FDS_MAX]) MUST_CHECK;
bool worker_job_respond(const void *response, size_t len) MUST_CHECK;
