// SPDX-License-Identifier: Apache-2.0
/*
 * parallel_scan - reads the payloads of one scan over several connections, within one snapshot.
 *
 * The leader scans directories and pushes batches into a queue. When there is more to read than
 * READ_ALONE_BYTES, workers start: each worker has a thread and a connection that joins the
 * leader's snapshot. If a worker cannot join, it is left out, and the leader reads the remaining
 * batches. A missing worker only costs speed. Each worker passes samples to its own sink, from its
 * own thread. The functions are called from the leader's thread.
 *
 *     struct parallel_scan scan = { .leader = { reader, plan, sink }, .count = n };
 *     good = parallel_scan_read(&scan, &batch, err);   ... for each batch, until one fails
 *     good = parallel_scan_end(&scan, good, err);      always; nothing else is to be closed
 */
#pragma once

#include "base/queue.h"
#include "store/scan/payload_batch.h"

struct scan_worker {
	struct parallel_scan *scan;
	struct store_reader *reader;
	const struct store_sink *sink;
	pthread_t thread;
	bool started;
	struct err err; /* of the first batch that failed */
};

struct parallel_scan {
	/* The first of `count` readers and of as many sinks. It has begun its snapshot; the other
	 * readers have only their options, or are open. At most READERS_MAX readers; all pointers
	 * must outlive the scan. */
	struct payload_reader leader;
	size_t count;
	/* private */
	struct scan_worker workers[READERS_MAX]; /* by reader; [0] is not used */
	struct queue batches;
	size_t bytes;        /* of all batches so far */
	bool started;        /* workers were started */
	bool leader_aborted; /* the leader stopped because a worker failed */
	char snapshot[64];
	_Atomic bool failed;
};

/*
 * Reads the batch, or passes its contents to a worker; the batch is empty afterwards. False: this
 * batch failed as payload_batch_read() does, or a worker failed with an earlier batch (ERR_IO until
 * parallel_scan_end() reports the worker's error); the batch is then unchanged.
 */
bool parallel_scan_read(struct parallel_scan *scan, struct payload_batch *batch,
			struct err *err) MUST_CHECK;

/*
 * Reads the remaining batches, waits for the workers and adds their counts to the leader's stats.
 * `good` false: the leader has failed with *err, and the batches are dropped. Call once. False: the
 * leader or a worker has failed; *err is the leader's error, or else a worker's, with the codes of
 * payload_batch_read(). The workers' connections stay open, outside a snapshot.
 */
bool parallel_scan_end(struct parallel_scan *scan, bool good, struct err *err) MUST_CHECK;
