// SPDX-License-Identifier: Apache-2.0
/*
 * upload_queue - the files that wait for their upload, each kept open by a descriptor.
 *
 * The sampling thread adds files with upload_queue_offer(). The uploading thread moves offered
 * files into a list of its own (first to end, oldest first) and removes jobs from that list. The
 * thread that starts and stops uploads calls init, close and done; done after the uploading thread
 * has ended. Jobs are heap memory; upload_job_close() frees one. The owners of the processes that
 * mapped the files first share the places of the queue (shares.h).
 */
#pragma once

#include "agent/upload/upload_message_internal.h"
#include "base/queue.h"
#include "base/shares.h"

/* A file to be uploaded; texts are borrowed during the call. */
struct upload_file {
	const char *build_id;
	const char *path; /* as the process sees it */
	int fd, root;     /* the file; the root directory of its process, -1: our own */
	bool is_trusted;  /* only root can write the file */
	struct share_owner owner;
};

struct upload_job {
	char build_id[BUILD_ID_TEXT_MAX];
	bool is_trusted;
	bool is_done[UPLOAD_PART_COUNT];
	int fds[2]; /* the file; the root directory of its process, -1: our own root */
	struct share_owner owner;
	unsigned int tries;
	uint64_t due_ns;
	struct upload_job *next;
	char path[];
};

struct upload_queue {
	_Atomic size_t count;            /* files that were offered and are not closed yet */
	struct upload_job *first, **end; /* the list, oldest first; the uploading thread's */
	/* private */
	struct queue offered;
	pthread_mutex_t lock; /* of the shares */
	struct shares shares;
};

/* An empty queue. The struct must not move until upload_queue_done(). Cannot fail. */
void upload_queue_init(struct upload_queue *queue);

/* No file can be offered any more. A waiting upload_queue_receive() returns. */
void upload_queue_close(struct upload_queue *queue);

/* Closes all files, also those that were offered and not received, and frees the memory. */
void upload_queue_done(struct upload_queue *queue);

/* True if the owner may add a file. Any thread. */
bool upload_queue_has_room(struct upload_queue *queue, struct share_owner owner);

/*
 * Adds a file. Never waits. Copies `file` and duplicates its descriptors, which stay the caller's.
 * False: the owner has its share, the queue is closed, or the file cannot be duplicated. Sampling
 * thread only.
 */
bool upload_queue_offer(struct upload_queue *queue, const struct upload_file *file) MUST_CHECK;

/* Moves offered files to the end of the list. Waits at most wait_ms for the first file. Uploading
 * thread only. */
void upload_queue_receive(struct upload_queue *queue, uint64_t wait_ms);

/* Appends a job to the list, which owns it then. */
void upload_queue_append(struct upload_queue *queue, struct upload_job *job);

/* Removes the job to which *at points from the list. The caller owns the job then. */
struct upload_job *upload_queue_unlink(struct upload_queue *queue, struct upload_job **at);

/* Closes the files of a job that is in no list, and frees the job. */
void upload_job_close(struct upload_queue *queue, struct upload_job *job);
