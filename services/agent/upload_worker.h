// SPDX-License-Identifier: Apache-2.0
/*
 * upload_worker - the uploader as the agent sees it: a worker (worker_process.h) that takes one file at a
 * time. Whatever it dies of, the next file gets a new one.
 */
#pragma once

#include "upload_message.h"
#include "worker_process.h"

struct upload_worker_options {
	const char *url, *token_file;
	uint64_t timeout_ms; /* of one upload; a job may take a little longer */
};

bool upload_worker_start(struct worker_process *worker, const struct upload_worker_options *options,
			 struct err *err) MUST_CHECK;

/* Hand it a job: a file, and the root of its process; -1: our own. The descriptors stay ours. */
bool upload_worker_send(struct worker_process *worker, const struct upload_job_message *job,
			const int fds[2]) MUST_CHECK;

enum worker_reply upload_worker_wait(struct worker_process *worker, uint64_t timeout_ms,
				     const struct stop *stop,
				     struct upload_response_message *ret_response);
