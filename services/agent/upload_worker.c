// SPDX-License-Identifier: Apache-2.0
#include "upload_worker.h"

#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>

bool upload_worker_start(struct worker *worker, const struct upload_worker_options *options,
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

	return worker_start(worker, UPLOADER_NAME, argv, err);
}

bool upload_worker_hand(struct worker *worker, const struct upload_job_message *job,
			const int fds[2])
{
	return worker_hand(worker, job, sizeof(*job), fds);
}

static bool is_sound(const struct upload_answer_message *answer)
{
	bool sound = memchr(answer->sentence, 0, sizeof(answer->sentence)) &&
		     memchr(answer->rank, 0, sizeof(answer->rank));

	for (size_t i = 0; i < UPLOAD_PART_COUNT; i++)
		sound = sound && answer->outcomes[i] <= UPLOAD_OUTCOME_COUNT;
	return sound;
}

enum worker_reply upload_worker_wait(struct worker *worker, uint64_t timeout_ms,
				     const struct stop *stop,
				     struct upload_answer_message *ret_answer)
{
	enum worker_reply reply =
		worker_wait(worker, timeout_ms, stop, ret_answer, sizeof(*ret_answer));

	return reply == WORKER_ANSWERED && !is_sound(ret_answer) ? WORKER_DIED : reply;
}
