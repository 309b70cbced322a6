// SPDX-License-Identifier: Apache-2.0
/*
 * worker_job - the worker's own side: step back behind all else, hear a job.
 */
#pragma once

#include "worker_process.h"

struct worker_restrictions {
	uint64_t address_space_max; /* 0: not bounded: large files are mapped */
	uint64_t data_max;          /* memory beside files that are mapped; 0: not bounded */
	int nice;
	bool only_when_idle; /* of the CPUs, too */
};

/* First of all: end with the agent, keep no descriptor but the socket, be bounded, be nice. */
void worker_job_restrict(const struct worker_restrictions *restrictions);

/* False: the agent is gone, or wants no more. A descriptor that did not come is -1. */
bool worker_job_receive(void *ret_job, size_t len, int ret_fds[WORKER_FDS_MAX]) MUST_CHECK;
bool worker_job_respond(const void *response, size_t len) MUST_CHECK;
