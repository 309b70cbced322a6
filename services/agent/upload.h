// SPDX-License-Identifier: Apache-2.0
/*
 * upload - the debug info of what this host runs goes to the debuginfo service, each build once.
 *
 * A file is offered by the sampling thread while it is open, so a program that is gone a moment
 * later keeps its names: the descriptor is kept until it is decided what becomes of it. A thread of
 * this module hands one file at a time to the uploader (upload_worker.h), which asks the service
 * whether it wants it before it sends anything. What fails is tried again, ever more seldom; while
 * the service cannot be reached everything waits. Bounded are the files that wait and the disk
 * space of those among them that were deleted.
 *
 *     upload_start(&upload, &options, &err)
 *     upload_offer(&upload, &(struct upload_file){ .build_id = id, .path = path, .pids = { pid,
 * parent } }, fd)
 */
#pragma once

#include "chassis/metrics.h"
#include "upload_queue.h"
#include "upload_worker.h"

#include <pthread.h>

struct upload_options {
	const char *url;        /* empty: there are no uploads */
	const char *token_file; /* empty: no token */
	uint64_t timeout_ns, held_max_bytes;
};

struct upload {
	bool running; /* false: uploads are off */
	/* private: the thread's own, but for the queue */
	struct upload_queue queue;
	struct stop stop;
	struct upload_options options;
	struct worker_process worker;
	uint64_t pause_ms, pause_until_ns, used_ns, checked_ns;
	pthread_t thread;
};

bool upload_start(struct upload *upload, const struct upload_options *options,
		  struct err *err) MUST_CHECK;

/* What waits is forgotten: after the next start it is offered again. */
void upload_stop(struct upload *upload);

/* From the sampling thread; never waits. False: not now, there is no room. The descriptor stays the
 * caller's. */
bool upload_has_room(const struct upload *upload);
bool upload_has_plenty(const struct upload *upload); /* half of all */
bool upload_offer(struct upload *upload, const struct upload_file *file, int fd) MUST_CHECK;

extern struct metric *const upload_metrics[];
extern const size_t upload_metric_count;
