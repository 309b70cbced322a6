// SPDX-License-Identifier: Apache-2.0
/*
 * upload - uploads the debug info of the executables that this host runs to the debuginfo service,
 * each build once.
 *
 * The sampling thread offers a file while it is open. The descriptor is kept until the file's
 * upload is decided, so a short-lived program keeps its symbols. A thread of this module sends one
 * file at a time to the uploader process ("agent/upload/upload_message_internal.h"), which asks the
 * service whether it wants the file before it sends any data. A failed upload is retried after
 * growing pauses. While the service cannot be reached, all files wait. The number of waiting files
 * is bounded (UPLOADS_WAITING_MAX), and so is the disk space of waiting files that were deleted
 * meanwhile.
 *
 *     upload_start(&upload, &options, &err)
 *     upload_offer(&upload, &(struct upload_file){ .build_id = id, .path = path, .fd = fd,
 *                                                  .root = -1 })
 */
#pragma once

#include "agent/upload/upload_queue.h"
#include "sandbox/sandbox.h"
#include "server/metrics/metrics.h"

#include <pthread.h>

/* The texts must outlive the thread. */
struct debug_upload_options {
	const char *url;            /* empty: uploads are off */
	const char *token_file;     /* empty: no token */
	uint64_t timeout_ns;        /* of one upload */
	uint64_t deleted_max_bytes; /* disk space of waiting files that were deleted */
	uint64_t sandbox_uid;       /* of the process that parses the files */
};

struct debug_upload {
	bool running; /* false: uploads are off */
	/* private: the thread's own, except the queue */
	struct upload_queue queue;
	struct cancel cancel;
	struct debug_upload_options options;
	struct sandbox worker;
	uint64_t pause_ms, pause_until_ns, used_ns, checked_ns;
	pthread_t thread;
};

/*
 * Starts the thread; if the URL is empty, no thread runs and the result is true. The struct must
 * not move until upload_stop(). ERR_INVALID: the URL is not http:// or https://. ERR_IO: the thread
 * cannot be started. After a failure uploads are off, and upload_stop() does nothing.
 */
bool upload_start(struct debug_upload *upload, const struct debug_upload_options *options,
		  struct err *err) MUST_CHECK;

/* Stops the thread and the uploader process. Drops all waiting files; after the next start of the
 * agent they are offered again. Accepts a struct that is not running. */
void upload_stop(struct debug_upload *upload);

/* For the sampling thread; never waits. False: uploads are off, or the owner has its share of the
 * queue, which is counted. */
bool upload_has_room(struct debug_upload *upload, struct share_owner owner);

/* For the sampling thread; never waits. True: more than half of the queue is free. False also if
 * uploads are off. */
bool upload_has_plenty(const struct debug_upload *upload);

/*
 * For the sampling thread; never waits. Copies `file` and duplicates its descriptors, which stay
 * the caller's. False: uploads are off, the owner has its share of the queue, or the file cannot be
 * duplicated; offer the file again later.
 */
bool upload_offer(struct debug_upload *upload, const struct upload_file *file) MUST_CHECK;

extern struct metric *const upload_metrics[];
