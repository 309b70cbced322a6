// SPDX-License-Identifier: Apache-2.0
/*
 * upload - uploads the debug info of the executables that this host runs to the debuginfo service,
 * each build once.
 *
 * The sampling thread offers a file while it is open. The descriptor is kept until the file's
 * upload is decided, so a short-lived program keeps its symbols. A thread of this module sends one
 * file at a time to the uploader process (upload_worker.h), which asks the service whether it wants
 * the file before it sends any data. A failed upload is retried after growing pauses. While the
 * service cannot be reached, all files wait. The number of waiting files is bounded
 * (UPLOADS_WAITING_MAX), and so is the disk space of waiting files that were deleted meanwhile.
 *
 *     upload_start(&upload, &options, &err)
 *     upload_offer(&upload, &(struct upload_file){ .build_id = id, .path = path, .pids = { pid,
 * parent } }, fd)
 */
#pragma once

#include "agent/upload/upload_queue.h"
#include "agent/upload/upload_worker_internal.h"
#include "server/metrics/metrics.h"

#include <pthread.h>

struct debug_upload_options {
	const char *url;            /* empty: uploads are off */
	const char *token_file;     /* empty: no token */
	uint64_t timeout_ns;        /* of one upload */
	uint64_t deleted_max_bytes; /* disk space of waiting files that were deleted */
};

struct debug_upload {
	bool running; /* false: uploads are off */
	/* private: the thread's own, except the queue */
	struct upload_queue queue;
	struct cancel cancel;
	struct debug_upload_options options;
	struct worker_process worker;
	uint64_t pause_ms, pause_until_ns, used_ns, checked_ns;
	pthread_t thread;
};

/* ERR_INVALID: the URL is not http:// or https://. The texts of `options` must outlive the thread.
 */
bool upload_start(struct debug_upload *upload, const struct debug_upload_options *options,
		  struct err *err) MUST_CHECK;

/* Drops all waiting files; after the next start they are offered again. */
void upload_stop(struct debug_upload *upload);

/* For the sampling thread; these never wait. False: uploads are off, or the queue is full. */
bool upload_has_room(const struct debug_upload *upload);
bool upload_has_plenty(const struct debug_upload *upload); /* more than half of the queue is free */

/* The descriptor is duplicated and stays the caller's. False: offer the file again later. */
bool upload_offer(struct debug_upload *upload, const struct upload_file *file, int fd) MUST_CHECK;

extern struct metric *const upload_metrics[];
extern const size_t upload_metric_count;
