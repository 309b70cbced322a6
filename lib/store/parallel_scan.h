// SPDX-License-Identifier: Apache-2.0
/*
 * parallel_scan - several connections that read the payloads of one scan, in one snapshot.
 *
 * The leader goes through directories and hands batches over; workers start when there is more to
 * read than is worth their while, each in a thread and on a connection of its own that joins the
 * leader's snapshot. One that cannot join is left out, and the leader reads what nobody takes: so
 * workers cost nothing but speed. What is taken is given to each reader's own payload_reader, from
 * its own thread alone.
 */
#pragma once

#include "base/queue.h"
#include "store/payload_batch.h"
#include "store/reader.h"

struct parallel_scan;

struct scan_worker {
	struct store_reader *reader;
	struct payload_reader rows; /* its pg, bounds and stats are the reader's */
	/* private */
	struct parallel_scan *scan;
	pthread_t thread;
	bool started;
	struct err err; /* of the first that failed */
};

struct parallel_scan {
	struct store_reader *leader;
	struct payload_reader rows;  /* the leader's own */
	struct scan_worker *workers; /* filled in by who makes the scan */
	size_t worker_count;
	/* private */
	struct queue batches;
	size_t bytes; /* handed over so far */
	bool started;
	bool leader_aborted; /* the leader, since a worker failed */
	char snapshot[64];
	_Atomic bool failed;
};

/* Read the batch, or have it read; it is empty afterwards. */
bool parallel_scan_read(struct parallel_scan *scan, struct payload_batch *batch,
			struct err *err) MUST_CHECK;

/*
 * Read what is left, and wait for the workers; `good` false: leave it, for the leader has failed.
 * To be called once. False: somebody has failed, and err says at what.
 */
bool parallel_scan_end(struct parallel_scan *scan, bool good, struct err *err) MUST_CHECK;
