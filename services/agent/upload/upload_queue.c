// SPDX-License-Identifier: Apache-2.0
#include "agent/upload/upload_queue.h"

#include "agent/agent_limits.h"
#include "base/heap.h"

#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>

void upload_queue_init(struct upload_queue *queue)
{
	*queue = (struct upload_queue){ 0 };
	queue->end = &queue->first;
	queue->shares.size = UPLOADS_WAITING_MAX;
	pthread_mutex_init(&queue->lock, NULL);
	queue_init(&queue->offered, UPLOADS_WAITING_MAX);
}

void upload_queue_close(struct upload_queue *queue)
{
	queue_close(&queue->offered);
}

void upload_queue_done(struct upload_queue *queue)
{
	upload_queue_receive(queue, 0);
	while (queue->first)
		upload_job_close(queue, upload_queue_unlink(queue, &queue->first));
	queue_done(&queue->offered);
	shares_done(&queue->shares);
	pthread_mutex_destroy(&queue->lock);
}

bool upload_queue_has_room(struct upload_queue *queue, struct share_owner owner)
{
	pthread_mutex_lock(&queue->lock);

	bool has = shares_has_room(&queue->shares, owner, 1);

	pthread_mutex_unlock(&queue->lock);
	return has;
}

static bool take_place(struct upload_queue *queue, struct share_owner owner)
{
	pthread_mutex_lock(&queue->lock);

	bool taken = shares_take(&queue->shares, owner, 1);

	pthread_mutex_unlock(&queue->lock);
	return taken;
}

static void release_place(struct upload_queue *queue, struct share_owner owner)
{
	pthread_mutex_lock(&queue->lock);
	shares_release(&queue->shares, owner, 1);
	pthread_mutex_unlock(&queue->lock);
}

void upload_job_close(struct upload_queue *queue, struct upload_job *job)
{
	release_place(queue, job->owner);
	close(job->fds[0]);
	if (job->fds[1] >= 0)
		close(job->fds[1]);
	free(job);
	atomic_fetch_sub(&queue->count, 1);
}

bool upload_queue_offer(struct upload_queue *queue, const struct upload_file *file)
{
	if (!take_place(queue, file->owner))
		return false;
	atomic_fetch_add(&queue->count, 1); /* by the sampling thread only */

	size_t len = strnlen(file->path, PATH_MAX - 1);
	struct upload_job *job = heap_zeroed(1, sizeof(*job) + len + 1);

	snprintf(job->build_id, sizeof(job->build_id), "%s", file->build_id);
	memcpy(job->path, file->path, len);
	job->is_trusted = file->is_trusted;
	job->owner = file->owner;
	job->fds[0] = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	job->fds[1] = file->root < 0 ? -1 : fcntl(file->root, F_DUPFD_CLOEXEC, 0);
	if (job->fds[0] >= 0 && queue_push(&queue->offered, job))
		return true;
	upload_job_close(queue, job);
	return false;
}

void upload_queue_append(struct upload_queue *queue, struct upload_job *job)
{
	job->next = NULL;
	*queue->end = job;
	queue->end = &job->next;
}

struct upload_job *upload_queue_unlink(struct upload_queue *queue, struct upload_job **at)
{
	struct upload_job *job = *at;

	*at = job->next;
	if (queue->end == &job->next)
		queue->end = at;
	return job;
}

void upload_queue_receive(struct upload_queue *queue, uint64_t wait_ms)
{
	void *item;

	while (queue_pop(&queue->offered, &item, wait_ms)) {
		upload_queue_append(queue, item);
		wait_ms = 0;
	}
}
