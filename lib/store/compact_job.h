// SPDX-License-Identifier: Apache-2.0
/*
 * compact_job - one transaction that puts what is in some rows of a table into fewer of another.
 *
 * Of the oldest row that waits the bucket is taken, and of it what was written together: all that
 * waits is locked, read, put into new rows and marked. Locked rows are passed over, so the lock is
 * the lease: who dies has changed nothing, and who meets others at work takes something else.
 */
#pragma once

#include "base/failpoint.h"
#include "store/compact.h"
#include "store/compact_row.h"
#include "store/partition.h"
#include "store/rollup.h"

struct compact_job;

struct row_location {
	str at; /* ctid: it is locked, so nobody moves it */
	uint64_t bytes;
};

struct compact_kind {
	const char *what; /* it does, for who reads an error */
	/* Only of whole hours, days, ... that have been over for so long. */
	uint64_t whole_ms, wait_ms;
	enum partition_table from, to; /* of rows as struct chunk_row is put */
	const char *mark;              /* the column of `from` that says when; NULL: it waits */
	const char *set;               /* what is set there beside it, from ", " on; or "" */
	enum failpoint before_commit;
	const char *only;  /* which rows of `from`, from " AND " on; or "" */
	const char *fresh; /* whether a row of `from` was not joined of others */
	/* The oldest one that waits: its partition, bucket, and the times in which others of it are
	 * looked for, as first_ms of [3rd, 4th); of what is older than $1 (ms). */
	const char *find;
	uint64_t samples_max, bytes_max; /* of what one job takes */
	void (*begin)(struct compact_job *job);
	/* ERR_INVALID: the row is damaged, and what was added is rubbish now. */
	bool (*add)(struct compact_job *job, const struct compact_row *row, struct err *err);
	bool (*make)(struct compact_job *job, struct err *err); /* compact_job_put() all of it */
};

struct compact_job {
	const struct compact_kind *kind;
	struct store_compactor *compactor;
	struct arena arena;
	uint64_t start_ms; /* of the times that are looked for */
	void *self;        /* the kind's own, of begin() */
	/* private */
	struct buf copy;
	enum rollup_kind rollup; /* of the rows that are being put */
	uint64_t end_ms;
	str partition; /* as the server names it */
	int32_t bucket;
	uint64_t now_ms;
	VEC(struct row_location) claimed;
	uint64_t fresh;  /* rows of those that were not joined */
	VEC(str) places; /* of those, which were read */
	struct buf back; /* rows that are put back */
	VEC(uint64_t) days;
	struct compact_counts counts;
};

/*
 * Of what is older than old_ms and as the kind wants it. ret_found false: nothing is, or others are
 * at it. A failure has changed nothing.
 */
bool compact_job_run(const struct compact_kind *kind, struct store_compactor *compactor,
		     uint64_t old_ms, struct compact_counts *counts, bool *ret_found,
		     struct err *err) MUST_CHECK;

/*
 * Whether samples of that hour may wait in `chunk_raw` for the rest of it: it is not over, they are
 * few, and others came since they last were joined. So what nothing comes to goes its way, and who
 * reads finds few rows of an hour in either table.
 */
bool compact_job_may_join(const struct compact_job *job, uint64_t hour_ms);

/* Rows that were joined of others and wait where those did. */
void compact_job_join(struct compact_job *job, struct sample_set *set);

/* Rows of samples that are all of one day; `rollup`: what sums they are, of those. */
void compact_job_put(struct compact_job *job, struct sample_set *set, enum rollup_kind rollup);
