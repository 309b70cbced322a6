// SPDX-License-Identifier: Apache-2.0
/*
 * compact_job - one transaction that replaces rows of one table with fewer rows of another.
 *
 * The job picks the bucket of the oldest due row, and of that bucket the rows that belong together.
 * The job locks and reads these rows, writes new rows and marks the old ones. Rows locked by
 * another ingester are skipped (SKIP LOCKED). The row lock is the lease: if an ingester dies, its
 * transaction is rolled back, and another ingester takes the rows. One thread: that of the
 * compactor.
 */
#pragma once

#include "store/compact/compact.h"
#include "store/compact/compact_row_internal.h"
#include "store/compact/rollup.h"
#include "store/failpoints.h"
#include "store/maintenance/partition.h"

struct compact_job;

struct row_location {
	str ctid;       /* stable while the row is locked */
	uint64_t bytes; /* of its payload */
};

/* A kind of job: constant, with static texts. */
struct compact_kind {
	const char *what; /* what the job does: context of its errors */
	/* Only rows of whole periods of whole_ms that ended at least wait_ms before old_ms. */
	uint64_t whole_ms, wait_ms;
	enum partition_table from, to;
	const char
		*mark; /* column of `from`: when a row was processed; NULL in the row: it is due */
	const char *set; /* further assignments of the UPDATE that marks, starting ", "; or "" */
	struct failpoint *before_commit;
	const char *only;  /* condition on rows of `from`, starting " AND "; or "" */
	const char *fresh; /* condition: the row of `from` is not a coalesced one */
	/* Selects the oldest due row that is older than $1 (ms): its partition, its bucket, and the
	 * range [3rd, 4th) of first_ms of the rows that belong to the same job. */
	const char *find;
	uint64_t samples_max, bytes_max; /* of one job */
	/* Sets job->self to an empty state in job->arena. */
	void (*begin)(struct compact_job *job);
	/* Adds a row to the state. ERR_INVALID: the row is corrupt, and the state is undefined. */
	bool (*add)(struct compact_job *job, const struct compact_row *row, struct err *err);
	/* Passes the result to compact_job_put() or compact_job_coalesce(). False: the job is
	 * rolled back. */
	bool (*make)(struct compact_job *job, struct err *err);
};

struct compact_job {
	const struct compact_kind *kind;
	struct store_compactor *compactor;
	struct arena arena; /* memory of the job, freed at its end */
	uint64_t start_ms;  /* lowest first_ms of the rows of this job */
	void *self;         /* state of the kind, set by begin() */
	/* private */
	struct buf copy;
	enum rollup_kind rollup; /* kind of the rows that are being written */
	uint64_t end_ms;
	str partition; /* name as quoted by the server */
	int32_t bucket;
	uint64_t now_ms;
	VEC(struct row_location) claimed;
	uint64_t fresh;       /* claimed rows that are not coalesced ones */
	VEC(str) locations;   /* ctid of the claimed rows that were read */
	struct buf coalesced; /* rows to write back to chunk_raw, in COPY format */
	VEC(uint64_t) days;
	struct compact_counts counts;
};

/*
 * Runs one job of the kind on rows older than old_ms (Unix ms) and adds to `counts`. The compactor
 * is connected. *ret_found false: no rows are due, or other ingesters have locked them. *ret_found
 * true: rows were compacted; or, without a change of `counts`, a corrupt row was marked unreadable,
 * or a missing partition of the target was created: run again. False: no row has changed, `counts`
 * is unchanged, and *ret_found may be true. ERR_IO: PostgreSQL failed.
 */
bool compact_job_run(const struct compact_kind *kind, struct store_compactor *compactor,
		     uint64_t old_ms, struct compact_counts *counts, bool *ret_found,
		     struct err *err) MUST_CHECK;

/*
 * For kind->make(). True if the samples of that hour may be coalesced in `chunk_raw` until the hour
 * is over: the hour still lasts, the samples are few, and new rows have arrived since the last
 * time. A bucket that receives no more rows is therefore merged, and readers find few rows of an
 * hour in either table.
 */
bool compact_job_may_coalesce(const struct compact_job *job, uint64_t hour_ms);

/* For kind->make(): adds the samples to the coalesced rows that the job writes back to `chunk_raw`.
 * The set is not kept. Cannot fail. */
void compact_job_coalesce(struct compact_job *job, struct sample_set *set);

/* For kind->make(): adds the samples, all of one day (UTC), to the rows that the job writes to its
 * target. rollup: kind of the rows, used only if the target is the table `rollup`. The set is not
 * kept. Cannot fail. */
void compact_job_put(struct compact_job *job, struct sample_set *set, enum rollup_kind rollup);
