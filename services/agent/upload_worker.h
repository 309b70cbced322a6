// SPDX-License-Identifier: Apache-2.0
/*
 * upload_worker - the uploader as the agent sees it: a worker (worker.h) that takes one file at a
 * time. Whatever it dies of, the next file gets a new one.
 */
#pragma once

#include "upload_message.h"
#include "worker.h"

struct upload_worker_options {
	const char *url, *token_file;
	uint64_t timeout_ms; /* of one upload; a job may take a little longer */
};

bool upload_worker_start(struct worker *worker, const struct upload_worker_options *options,
			 struct err *err) MUST_CHECK;

/* Hand it a job: a file, and the root of its process; -1: our own. The descriptors stay ours. */
bool upload_worker_hand(struct worker *worker, const struct upload_job_message *job,
			const int fds[2]) MUST_CHECK;

enum worker_reply upload_worker_wait(struct worker *worker, uint64_t timeout_ms,
				     const struct stop *stop,
				     struct upload_answer_message *ret_answer);
