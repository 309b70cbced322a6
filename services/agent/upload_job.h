// SPDX-License-Identifier: Apache-2.0
/*
 * upload_job - a file that waits for its upload, and the list of them; for upload*.c alone.
 */
#pragma once

#include "upload.h"

struct upload_job {
	char build_id[BUILD_ID_TEXT_MAX];
	bool is_done[UPLOAD_PART_COUNT];
	int fds[2]; /* the file, its process's root; -1: ours */
	unsigned int tries;
	uint64_t due_ns;
	struct upload_job *next;
	char path[];
};

/* At the end of the list; and out of it. */
void upload_append(struct upload *upload, struct upload_job *job);
struct upload_job *upload_unlink(struct upload *upload, struct upload_job **at);

/* Let its file go. It is in no list. */
void upload_job_close(struct upload *upload, struct upload_job *job);

/* The end of a job that the uploader did not decide. */
void upload_give_up(struct upload *upload, struct upload_job *job, enum upload_outcome outcome);

/* Put what was offered at the end of the list; the first may take wait_ms to come. */
void upload_take_offers(struct upload *upload, uint64_t wait_ms);

/* Now and then: what was deleted meanwhile, and the numbers. */
void upload_look(struct upload *upload);
void upload_measure(const struct upload *upload);

/* To the log: what became of it this time. */
void upload_tell(const struct upload_job *job, const struct upload_answer_message *answer,
		 enum upload_outcome outcome);

void upload_count(enum upload_outcome outcome);
void upload_count_sent(uint64_t bytes);
