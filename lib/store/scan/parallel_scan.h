// SPDX-License-Identifier: Apache-2.0
/*
 * parallel_scan - reads the payloads of one scan over several connections, within one snapshot.
 *
 * The leader scans directories and pushes batches into a queue. When there is more to read than
 * READ_ALONE_BYTES, workers start: each has a thread and a connection that joins the leader's
 * snapshot. If a worker cannot join, it is left out, and the leader reads the remaining batches. A
 * missing worker only costs speed. Each worker passes payloads to its own payload_reader, from its
 * own thread.
 */
#pragma once

#include "base/queue.h"
#include "store/scan/payload_batch.h"
#include "store/scan/reader.h"

struct parallel_scan;

struct scan_worker {
	struct store_reader *reader;
	struct payload_reader rows; /* with the reader's pg, bounds and stats */
	/* private */
	struct parallel_scan *scan;
	pthread_t thread;
	bool started;
	struct err err; /* of the first batch that failed */
};

struct parallel_scan {
	struct store_reader *leader;
	struct payload_reader rows;  /* the leader's own */
	struct scan_worker *workers; /* set by the caller */
	size_t worker_count;
	/* private */
	struct queue batches;
	size_t bytes; /* of all batches so far */
	bool started;
	bool leader_aborted; /* the leader stopped because a worker failed */
	char snapshot[64];
	_Atomic bool failed;
};

/* Reads the batch, or passes it to a worker; it is empty afterwards. */
bool parallel_scan_read(struct parallel_scan *scan, struct payload_batch *batch,
			struct err *err) MUST_CHECK;

/*
 * Reads the remaining batches and waits for the workers. `good` false: the leader has failed, and
 * the batches are dropped. Call once. False: the leader or a worker has failed; err is set.
 */
bool parallel_scan_end(struct parallel_scan *scan, bool good, struct err *err) MUST_CHECK;
