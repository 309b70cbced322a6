// SPDX-License-Identifier: Apache-2.0
/*
 * upload_worker - the uploader process, a worker_process with the messages of
 * "agent/upload/upload_message_internal.h".
 *
 * It handles one file at a time. If it dies, the owner starts another process for the next file.
 * One thread, the uploading thread.
 */
#pragma once

#include "agent/upload/upload_message_internal.h"
#include "agent/worker/worker_process.h"

struct upload_worker_options {
	const char *url, *token_file;
	uint64_t timeout_ms; /* of one HTTP request; a job may take a little longer */
};

/* Starts the process; `options` is borrowed during the call. Fails as worker_process_start(). After
 * success the caller must call worker_process_kill(). */
bool upload_worker_start(struct worker_process *worker, const struct upload_worker_options *options,
			 struct err *err) MUST_CHECK;

/* Sends a job. fds: the file, and the root directory of its process (-1: our own root); both stay
 * the caller's. False: the worker has died; the caller kills the process. */
bool upload_worker_send(struct worker_process *worker, const struct upload_job_message *job,
			const int fds[2]) MUST_CHECK;

/* Waits as worker_process_wait(). A response with malformed fields counts as WORKER_DIED. */
enum worker_reply upload_worker_wait(struct worker_process *worker, uint64_t timeout_ms,
				     const struct cancel *cancel,
				     struct upload_response_message *ret_response);
