// SPDX-License-Identifier: Apache-2.0
#include "store/compact.h"

#include "base/clock.h"
#include "store/compact_job.h"
#include "store/compact_labels.h"
#include "store/compact_merge.h"
#include "store/limits.h"
#include "store/rollup_fleet.h"
#include "store/rollup_fold.h"
#include "store/schema.h"

enum { ANSWER_MS = 60000 };

static bool connect(struct store_compactor *compactor, struct err *err)
{
	const struct postgres_options options = {
		.conninfo = compactor->options.postgres,
		.application = "decima-ingester",
		.settings = "-c synchronous_commit=off -c idle_in_transaction_session_timeout=30s "
			    "-c statement_timeout=60s -c lock_timeout=1s",
		.deadline_ms = ANSWER_MS,
		.stop = compactor->options.stop,
	};

	if (postgres_is_open(&compactor->pg))
		return true;
	store_compactor_close(compactor);
	if (!postgres_open(&compactor->pg, &options, err))
		return false;
	if (schema_check(&compactor->pg, err))
		return true;
	store_compactor_close(compactor);
	return false;
}

void store_compactor_init(struct store_compactor *compactor,
			  const struct store_compactor_options *options)
{
	*compactor = (struct store_compactor){ .options = *options };
}

void store_compactor_close(struct store_compactor *compactor)
{
	postgres_close(&compactor->pg);
}

static void merge_begin(struct compact_job *job)
{
	struct compact_merge *merge = arena_new(&job->arena, struct compact_merge);

	merge->arena = &job->arena;
	job->self = merge;
}

static bool merge_add(struct compact_job *job, const struct compact_row *row, struct err *err)
{
	return compact_merge_add(job->self, row, err);
}

static bool merge_make(struct compact_job *job, struct err *err)
{
	struct compact_merge *merge = job->self;

	compact_merge_end(merge);
	for (size_t i = 0; i < merge->hours.len; i++)
		compact_job_put(job, &merge->hours.items[i].set, ROLLUP_ALONE);
	(void)err;
	return true;
}

/* All of the bucket that arrived in the same hour, whatever the times of its samples. */
static const struct compact_kind merging = {
	.from = PARTITION_CHUNK_RAW,
	.to = PARTITION_CHUNK,
	.mark = "merged",
	.set = "",
	.before_commit = FAILPOINT_IN_COMPACTION,
	.find = "SELECT tableoid::regclass::text, bucket, 0::bigint, 9223372036854775807 "
		"FROM chunk_raw WHERE merged IS NULL AND NOT unreadable "
		"AND arrival < to_timestamp($1::bigint / 1000.0) "
		"ORDER BY arrival LIMIT 1 FOR UPDATE SKIP LOCKED",
	.begin = merge_begin,
	.add = merge_add,
	.make = merge_make,
};

static void fold_begin(struct compact_job *job)
{
	struct rollup_fold *fold = arena_new(&job->arena, struct rollup_fold);

	rollup_fold_init(fold, job->start_ms, &job->arena);
	job->self = fold;
}

static bool fold_add(struct compact_job *job, const struct compact_row *row, struct err *err)
{
	return rollup_fold_add(job->self, row, err);
}

/* Sums without instances are worth their bytes where they are not half as many. */
static bool put_sums(struct compact_job *job, struct sample_set *sums, struct err *err)
{
	struct labels *labels = NULL;
	struct sample_set fleet;

	if (!compact_labels_load(&job->compactor->pg, (int64_t)(job->start_ms / MS_PER_DAY), sums,
				 &job->arena, &labels, err))
		return false;
	rollup_fleet_fold(sums, labels, &job->arena, &fleet);
	if (fleet.samples.len * 2 > sums->samples.len) {
		compact_job_put(job, sums, ROLLUP_ALONE);
		return true;
	}
	compact_job_put(job, sums, ROLLUP_SERIES);
	compact_job_put(job, &fleet, ROLLUP_FLEET);
	return true;
}

static bool fold_make(struct compact_job *job, struct err *err)
{
	struct rollup_fold *fold = job->self;

	rollup_fold_end(fold);
	compact_job_put(job, &fold->gauges, ROLLUP_GAUGES);
	return put_sums(job, &fold->sums, err);
}

static const struct compact_kind rolling = {
	.from = PARTITION_CHUNK,
	.to = PARTITION_ROLLUP,
	.mark = "rolled",
	.set = ", gauges = true",
	.before_commit = FAILPOINT_IN_ROLLUP,
	.find = "SELECT tableoid::regclass::text, bucket, first_ms - first_ms % 3600000, "
		"first_ms - first_ms % 3600000 + 3600000 "
		"FROM chunk WHERE rolled IS NULL AND NOT unreadable AND first_ms < $1 "
		"ORDER BY first_ms LIMIT 1 FOR UPDATE SKIP LOCKED",
	.begin = fold_begin,
	.add = fold_add,
	.make = fold_make,
};

/* An hour is summed up when most of what there is of it must have come, and been merged. */
static uint64_t hours_over(uint64_t now_ms, uint64_t age_ms)
{
	uint64_t before_ms = now_ms - age_ms - ROLLUP_WAIT_MS;

	return before_ms - before_ms % MS_PER_HOUR;
}

bool store_compact(struct store_compactor *compactor, bool *ret_found, struct err *err)
{
	uint64_t now_ms = clock_unix_ns() / NS_PER_MS, age_ms = compactor->options.age_ms;

	*ret_found = false;
	if (!connect(compactor, err))
		return false;
	if (!compact_job_run(&merging, compactor, now_ms - age_ms, &compactor->merged, ret_found,
			     err))
		return err_wrap(err, "merge rows");
	if (*ret_found)
		return true;
	if (!compact_job_run(&rolling, compactor, hours_over(now_ms, age_ms), &compactor->rolled,
			     ret_found, err))
		return err_wrap(err, "sum up an hour");
	return true;
}
