// SPDX-License-Identifier: Apache-2.0
/*
 * row_crew - several connections that read the payloads of one scan, in one snapshot.
 *
 * The leader goes through directories and hands batches over; helpers start when there is more to
 * read than is worth their while, each in a thread and on a connection of its own that joins the
 * leader's snapshot. One that cannot join is left out, and the leader reads what nobody takes: so
 * helpers cost nothing but speed. What is taken is given to each reader's own row_reader, from its
 * own thread alone.
 */
#pragma once

#include "base/queue.h"
#include "store/reader.h"
#include "store/row_batch.h"

struct row_crew;

struct row_helper {
	struct store_reader *reader;
	struct row_reader rows; /* its pg, bounds and stats are the reader's */
	/* private */
	struct row_crew *crew;
	pthread_t thread;
	bool started;
	struct err err; /* of the first that failed */
};

struct row_crew {
	struct store_reader *leader;
	struct row_reader rows;     /* the leader's own */
	struct row_helper *helpers; /* filled in by who makes the crew */
	size_t helper_count;
	/* private */
	struct queue batches;
	size_t bytes; /* handed over so far */
	bool started;
	bool gave_up; /* the leader, since a helper failed */
	char snapshot[64];
	_Atomic bool failed;
};

/* Read the batch, or have it read; it is empty afterwards. */
bool row_crew_read(struct row_crew *crew, struct row_batch *batch, struct err *err) MUST_CHECK;

/*
 * Read what is left, and wait for the helpers; `good` false: leave it, for the leader has failed.
 * To be called once. False: somebody has failed, and err says at what.
 */
bool row_crew_end(struct row_crew *crew, bool good, struct err *err) MUST_CHECK;
