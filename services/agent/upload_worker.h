/*
 * upload_worker - the uploader as the agent sees it: a process that takes one file at a time.
 *
 * It is started by the first file and ended when there is nothing to do, when it took too long, or
 * with us. Whatever it dies of, the next file gets a new one. One thread at a time.
 */
#pragma once

#include "base/err.h"
#include "base/stop.h"
#include "upload_message.h"

#include <sys/types.h>

struct upload_worker_options {
	const char *url, *token_file;
	uint64_t timeout_ms; /* of one upload; a job may take a little longer */
};

struct upload_worker {
	/* Of all of them so far that have ended. */
	uint64_t started, cpu_ns, peak_bytes;
	pid_t pid; /* 0: none runs */
	/* private */
	int socket;
};

enum upload_reply {
	UPLOAD_ANSWERED,
	UPLOAD_NOT_YET,
	UPLOAD_WORKER_DIED,
	UPLOAD_STOPPED,
	UPLOAD_REPLY_COUNT
};

bool upload_worker_start(struct upload_worker *worker, const struct upload_worker_options *options,
			 struct err *err) MUST_CHECK;

/* Hand it a job: a file, and the root of its process; -1: our own. The descriptors stay ours. */
bool upload_worker_hand(struct upload_worker *worker, const struct upload_job_message *job,
			const int fds[2]) MUST_CHECK;

/* Wait for what became of it. Who has died, or was stopped, is still to be ended. */
enum upload_reply upload_worker_wait(struct upload_worker *worker, uint64_t timeout_ms,
				     const struct stop *stop,
				     struct upload_answer_message *ret_answer);

void upload_worker_end(struct upload_worker *worker);
