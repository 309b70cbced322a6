// SPDX-License-Identifier: Apache-2.0
#include "store/compact/compact.h"

#include "base/clock.h"
#include "store/compact/compact_job_internal.h"
#include "store/compact/compact_labels_internal.h"
#include "store/compact/compact_merge_internal.h"
#include "store/compact/rollup_fleet.h"
#include "store/compact/rollup_fold_internal.h"
#include "store/limits.h"
#include "store/maintenance/schema.h"

enum { RESPONSE_MS = 60000 };

static bool connect(struct store_compactor *compactor, struct err *err)
{
	const struct postgres_options options = {
		.conninfo = compactor->options.postgres,
		.application = "decima-ingester",
		.settings = "-c synchronous_commit=off -c idle_in_transaction_session_timeout=30s "
			    "-c statement_timeout=60s -c lock_timeout=1s",
		.deadline_ms = RESPONSE_MS,
		.cancel = compactor->options.cancel,
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
	for (size_t i = 0; i < merge->hours.len; i++) {
		struct compact_hour *hour = &merge->hours.items[i];

		if (compact_job_may_coalesce(job, hour->start_ms))
			compact_job_coalesce(job, &hour->set);
		else
			compact_job_put(job, &hour->set, ROLLUP_ALONE);
	}
	(void)err;
	return true;
}

/* Merges the rows of a bucket that arrived in the same hour, whatever the times of their samples.
 */
static const struct compact_kind merge_kind = {
	.what = "merge rows",
	.whole_ms = 1,
	.from = PARTITION_CHUNK_RAW,
	.to = PARTITION_CHUNK,
	.mark = "merged",
	.set = "",
	.only = "",
	.fresh = "NOT joined",
	.before_commit = &failpoint_in_compaction,
	.find = "SELECT tableoid::regclass::text, bucket, 0::bigint, 9223372036854775807 "
		"FROM chunk_raw WHERE merged IS NULL AND NOT unreadable "
		"AND arrival < to_timestamp($1::bigint / 1000.0) "
		"ORDER BY arrival LIMIT 1 FOR UPDATE SKIP LOCKED",
	.samples_max = COMPACT_SAMPLES_MAX,
	.bytes_max = COMPACT_BYTES_MAX,
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

static bool make_fleet(struct compact_job *job, const struct sample_set *sums,
		       struct sample_set *ret_fleet, struct err *err)
{
	int64_t day = (int64_t)(job->start_ms / MS_PER_DAY);
	struct labels *labels = NULL;

	if (!compact_labels_load(&job->compactor->pg, day, sums, &job->arena, &labels, err))
		return false;
	rollup_fleet_fold(sums, labels, &job->arena, ret_fleet);
	return true;
}

/* Sums without instances are stored if they are at most half as many as the sums by series. */
static bool put_sums(struct compact_job *job, struct sample_set *sums, struct err *err)
{
	struct sample_set fleet;

	if (!make_fleet(job, sums, &fleet, err))
		return false;
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

/* Rolls up an hour, once most of its samples must have arrived and been merged. */
static const struct compact_kind hour_kind = {
	.what = "roll up an hour",
	.whole_ms = MS_PER_HOUR,
	.wait_ms = ROLLUP_WAIT_MS,
	.from = PARTITION_CHUNK,
	.to = PARTITION_ROLLUP,
	.mark = "rolled",
	.set = ", gauges = true",
	.only = "",
	.fresh = "true",
	.before_commit = &failpoint_in_rollup,
	.find = "SELECT tableoid::regclass::text, bucket, first_ms - first_ms % 3600000, "
		"first_ms - first_ms % 3600000 + 3600000 "
		"FROM chunk WHERE rolled IS NULL AND NOT unreadable AND first_ms < $1 "
		"ORDER BY first_ms LIMIT 1 FOR UPDATE SKIP LOCKED",
	.samples_max = ROLLUP_SAMPLES_MAX,
	.bytes_max = ROLLUP_BYTES_MAX,
	.begin = fold_begin,
	.add = fold_add,
	.make = fold_make,
};

static void day_begin(struct compact_job *job)
{
	struct sample_set *sums = arena_new(&job->arena, struct sample_set);

	sample_set_init(sums, &job->arena);
	job->self = sums;
}

static bool set_day(void *self, const struct sample_set *from, struct sample *sample)
{
	const uint64_t *day_ms = self;

	(void)from;
	sample->time_ms = *day_ms;
	return true;
}

static bool day_add(struct compact_job *job, const struct compact_row *row, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct sample_set set;

	sample_set_init(&set, &arena);
	if (!compact_row_read(row, COMPACT_ALL, 0, &set, err))
		return false;
	sample_set_merge(job->self, &set, &(struct sample_filter){ set_day, &job->start_ms });
	return true;
}

static bool day_make(struct compact_job *job, struct err *err)
{
	struct sample_set *sums = job->self, fleet;

	compact_set_end(sums);
	if (!make_fleet(job, sums, &fleet, err))
		return false;
	compact_job_put(job, &fleet, ROLLUP_DAY);
	return true;
}

/* Sums the day's hourly sums without instances. */
static const struct compact_kind day_kind = {
	.what = "roll up a day",
	.whole_ms = MS_PER_DAY,
	.wait_ms = ROLLUP_WAIT_MS + ROLLUP_DAY_WAIT_MS,
	.from = PARTITION_ROLLUP,
	.to = PARTITION_ROLLUP,
	.mark = "folded",
	.set = "",
	.only = " AND kind IN (0, 2)",
	.fresh = "true",
	.before_commit = &failpoint_in_rollup,
	.find = "SELECT tableoid::regclass::text, bucket, first_ms - first_ms % 86400000, "
		"first_ms - first_ms % 86400000 + 86400000 "
		"FROM rollup WHERE folded IS NULL AND NOT unreadable AND kind IN (0, 2) "
		"AND first_ms < $1 ORDER BY first_ms LIMIT 1 FOR UPDATE SKIP LOCKED",
	.samples_max = ROLLUP_SAMPLES_MAX,
	.bytes_max = ROLLUP_BYTES_MAX,
	.begin = day_begin,
	.add = day_add,
	.make = day_make,
};
_Static_assert(ROLLUP_ALONE == 0 && ROLLUP_FLEET == 2, "as in the SQL above");

bool store_compact(struct store_compactor *compactor, bool *ret_found, struct err *err)
{
	const struct {
		const struct compact_kind *kind;
		struct compact_counts *counts;
	} jobs[] = {
		{ &merge_kind, &compactor->merged },
		{ &hour_kind, &compactor->rolled_up },
		{ &day_kind, &compactor->daily },
	};
	uint64_t old_ms = clock_unix_ns() / NS_PER_MS - compactor->options.age_ms;

	bool found = false;

	if (!connect(compactor, err))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(jobs) && !found; i++)
		if (!compact_job_run(jobs[i].kind, compactor, old_ms, jobs[i].counts, &found, err))
			return err_wrap(err, "%s", jobs[i].kind->what);
	*ret_found = found;
	return true;
}
