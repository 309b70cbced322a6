// SPDX-License-Identifier: Apache-2.0
/*
 * merge_bench - measures the querier's work on stored rows, on one core and without PostgreSQL.
 *
 *     merge_bench TURNS ROWS
 *
 * ROWS is a file of (4 bytes of length, payload of a row), written by bench_query.py. Each turn
 * decodes and merges all rows, writes the reports, and sums the samples over time without stacks.
 * Prints the CPU time of each stage, the median of all turns, as one line of JSON.
 */
#include "base/clock.h"
#include "base/log.h"
#include "base/reader.h"
#include "profile/profile_type.h"
#include "querier/merge/merge.h"
#include "querier/merge/range_sums.h"
#include "querier/report/report.h"
#include "store/chunk/chunk_decode.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

enum { TURNS_MAX = 101 };

enum stage { DECODE, MERGE, OVER_TIME, COLLAPSED, PPROF, FLAMEGRAPH, TABLE, STAGE_COUNT };
static const char *const stage_names[STAGE_COUNT] = { "decode",    "merge", "over_time",
						      "collapsed", "pprof", "flamegraph",
						      "table" };

struct bench {
	str rows;
	uint64_t ns[STAGE_COUNT][TURNS_MAX];
	size_t turn, row_count, samples, stacks, frames;
};

static const struct group_by ungrouped;

static bool any_series(void *self, uint64_t id, str type, struct labels *ret_labels)
{
	(void)self;
	(void)id;
	*ret_labels = (struct labels){ 0 };
	return str_eq(type, STR(PROFILE_TYPE_CPU));
}

static void fail(const struct err *err)
{
	fprintf(stderr, "merge_bench: %s\n", err->msg);
	exit(EXIT_FAILURE);
}

/* Add the time since `*began_ns` to the stage, and set `*began_ns` to now. */
static void lap(struct bench *bench, enum stage stage, uint64_t *began_ns)
{
	uint64_t now_ns = clock_cpu_ns();

	bench->ns[stage][bench->turn] += now_ns - *began_ns;
	*began_ns = now_ns;
}

static void row_merge(struct bench *bench, str row, struct merge *merge)
{
	static const struct chunk_filter all = { .series = any_series,
						 .end_ms = UINT64_MAX,
						 .without = CHUNK_NO_LABELS };
	AUTO_ARENA arena = { 0 };
	uint64_t samples, began_ns = clock_cpu_ns();
	struct sample_set set;
	struct err err;

	sample_set_init(&set, &arena);
	if (!chunk_decode(row, &all, &set, &samples, &err))
		fail(&err);
	lap(bench, DECODE, &began_ns);
	if (!merge_add_row(merge, &set, &err))
		fail(&err);
	lap(bench, MERGE, &began_ns);
	bench->samples += set.samples.len;
	bench->row_count++;
}

/* The work of query_range on the rows. */
static void sum_over_time(struct bench *bench)
{
	static const struct chunk_filter all = { .series = any_series,
						 .end_ms = UINT64_MAX,
						 .without = CHUNK_NO_STACKS | CHUNK_NO_LABELS };
	static const struct range_options every_ten_seconds = { .step_ms = 10000,
								.memory_max = UINT64_MAX };
	AUTO_ARENA kept = { 0 };
	struct reader r = reader_of(bench->rows);
	uint64_t samples, began_ns = clock_cpu_ns();
	struct range_sums range;
	struct err err;

	range_sums_init(&range, &every_ten_seconds, &kept);
	while (reader_left(&r)) {
		AUTO_ARENA arena = { 0 };
		struct sample_set set;
		str row = reader_bytes(&r, reader_u32(&r));

		sample_set_init(&set, &arena);
		if (!chunk_decode(row, &all, &set, &samples, &err) ||
		    !range_sums_add_row(&range, &set, &err))
			fail(&err);
	}
	lap(bench, OVER_TIME, &began_ns);
}

static void turn_run(struct bench *bench)
{
	AUTO_ARENA arena = { 0 };
	struct reader r = reader_of(bench->rows);
	const struct query_stats stats = { 0 };
	struct merge merge;
	struct report_input input = { .merge = &merge,
				      .type = STR(PROFILE_TYPE_CPU),
				      .columns = REPORT_COLUMNS_DEFAULT,
				      .stats = &stats };

	bench->samples = bench->row_count = 0;
	merge_init(&merge, STR(PROFILE_TYPE_CPU), &ungrouped, UINT64_MAX, &arena);
	while (reader_left(&r))
		row_merge(bench, reader_bytes(&r, reader_u32(&r)), &merge);
	sum_over_time(bench);
	bench->stacks = merge.set.stacks.len;
	bench->frames = merge.set.frames.len;
	for (size_t i = 0; i < REPORT_COUNT; i++) {
		AUTO_ARENA of_report = { 0 };
		uint64_t began_ns = clock_cpu_ns();
		struct err err;
		str body;

		if (!reports[i].write(&input, &of_report, &body, &err))
			fail(&err);
		lap(bench, COLLAPSED + (enum stage)i, &began_ns);
	}
}

static int compare_ns(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* The median. */
static double seconds_of(uint64_t *ns, size_t count)
{
	size_t middle = count / 2;

	qsort(ns, count, sizeof(*ns), compare_ns);
	return (double)ns[middle] / (double)NS_PER_SECOND;
}

static str file_read(const char *path, struct arena *arena)
{
	FILE *file = fopen(path, "rb");
	struct stat stat;

	if (!file || fstat(fileno(file), &stat)) {
		perror(path);
		exit(EXIT_FAILURE);
	}

	char *bytes = arena_array(arena, char, (size_t)stat.st_size);
	size_t len = fread(bytes, 1, (size_t)stat.st_size, file);

	fclose(file);
	return (str){ bytes, len };
}

int main(int argc, char **argv)
{
	static struct bench bench;
	AUTO_ARENA arena = { 0 };
	uint64_t turns;

	log_init("merge_bench", LOG_INFO);
	if (argc != 3 || !str_to_u64(str_from(argv[1]), &turns) || !turns || turns > TURNS_MAX) {
		fprintf(stderr, "usage: merge_bench TURNS ROWS\n");
		return 2;
	}
	bench.rows = file_read(argv[2], &arena);
	for (bench.turn = 0; bench.turn < turns; bench.turn++)
		turn_run(&bench);
	printf("{\"rows\":%zu,\"bytes\":%zu,\"samples\":%zu,\"stacks\":%zu,\"frames\":%zu",
	       bench.row_count, bench.rows.len, bench.samples, bench.stacks, bench.frames);
	for (size_t i = 0; i < STAGE_COUNT; i++) {
		printf(",\"%s\":%.6f", stage_names[i], seconds_of(bench.ns[i], turns));
	}
	puts("}");
	return EXIT_SUCCESS;
}
