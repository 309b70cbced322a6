// SPDX-License-Identifier: Apache-2.0
#include "agent/upload/upload_worker_internal.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>

bool upload_worker_start(struct worker_process *worker, const struct upload_worker_options *options,
			 struct err *err)
{
	char timeout[24];

	snprintf(timeout, sizeof(timeout), "%" PRIu64, options->timeout_ms);

	/* execve() does not write to its arguments. */
	char *argv[UPLOADER_ARGUMENTS + 1] = {
		[UPLOADER_URL] = (char *)(uintptr_t)options->url,
		[UPLOADER_TOKEN_FILE] = (char *)(uintptr_t)options->token_file,
		[UPLOADER_TIMEOUT_MS] = timeout,
	};

	return worker_process_start(worker, UPLOADER_NAME, argv, err);
}

bool upload_worker_send(struct worker_process *worker, const struct upload_job_message *job,
			const int fds[2])
{
	return worker_process_send(worker, job, sizeof(*job), fds);
}

static bool is_sound(const struct upload_response_message *response)
{
	bool sound = memchr(response->error, 0, sizeof(response->error)) &&
		     memchr(response->rank, 0, sizeof(response->rank));

	for (size_t i = 0; i < UPLOAD_PART_COUNT; i++)
		sound = sound && response->outcomes[i] <= UPLOAD_OUTCOME_COUNT;
	return sound;
}

enum worker_reply upload_worker_wait(struct worker_process *worker, uint64_t timeout_ms,
				     const struct cancel *cancel,
				     struct upload_response_message *ret_response)
{
	enum worker_reply reply = worker_process_wait(worker, timeout_ms, cancel, ret_response,
						      sizeof(*ret_response));

	return reply == WORKER_RESPONDED && !is_sound(ret_response) ? WORKER_DIED : reply;
}
