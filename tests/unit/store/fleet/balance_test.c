// SPDX-License-Identifier: Apache-2.0
#include "store/fleet/balance.h"
#include "support/test.h"

#include <stdio.h>

enum { SPOOLS = 2, NAMED = 3 };

struct named {
	const char *reason;
	uint64_t samples;
};

/* A spool with `sampled` SILENT has no status. */
#define SILENT UINT64_MAX

struct spool_row {
	uint64_t sampled;
	struct named lost[NAMED];
	uint64_t stored, skipped, ahead, rejected, conflict, duplicate, missing, gap, transit, sent;
};

static struct balance_spool spool_of(const struct spool_row *row)
{
	struct balance_spool spool = {
		.status.sampled = row->sampled == SILENT ? 0 : row->sampled,
		.status.sent = row->sent,
		.has_status = row->sampled != SILENT,
		.stored = row->stored,
		.skipped = row->skipped,
		.too_far_ahead = row->ahead,
		.rejected = row->rejected,
		.conflict_samples = row->conflict,
		.conflict = row->conflict > 0,
		.duplicate = row->duplicate,
		.missing = row->missing,
		.gap = row->gap,
		.transit = row->transit,
	};

	for (size_t i = 0; i < NAMED && row->lost[i].reason; i++)
		spool.status.lost[spool.status.lost_count++] =
			(struct status_count){ str_from(row->lost[i].reason),
					       row->lost[i].samples };
	return spool;
}

static uint64_t reason_of(const struct balance_reasons *reasons, const char *name)
{
	for (size_t i = 0; i < reasons->len; i++)
		if (str_eq(reasons->items[i].reason, str_from(name)))
			return reasons->items[i].samples;
	return 0;
}

static uint64_t total_of(const struct balance_reasons *reasons)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < reasons->len; i++)
		samples += reasons->items[i].samples;
	return samples;
}

static void balances_the_counts_of_spools(void **state)
{
	static const struct {
		const char *what;
		struct spool_row spools[SPOOLS];
		size_t spool_count;
		struct named lost[NAMED];
		uint64_t lost_total;
		uint64_t in_flight;
		int64_t unaccounted; /* not 0: there is an explanation */
		const char *why;     /* part of it */
	} rows[] = {
		{ .what = "no counts" },
		{ .what = "all samples are stored",
		  .spools = { { .sampled = 100, .stored = 100 } },
		  .spool_count = 1 },
		{ .what = "the agent reports its losses",
		  .spools = { { .sampled = 100,
				.lost = { { "ring_full", 7 }, { "spool_full", 0 } },
				.stored = 93 } },
		  .spool_count = 1,
		  .lost = { { "ring_full", 7 } },
		  .lost_total = 7 },
		{ .what = "a duplicate batch is stored once",
		  .spools = { { .sampled = 100, .stored = 100, .duplicate = 4 } },
		  .spool_count = 1 },
		{ .what = "a late batch is in flight",
		  .spools = { { .sampled = 100, .stored = 60, .missing = 2, .transit = 40 } },
		  .spool_count = 1,
		  .in_flight = 40 },
		{ .what = "without a missing batch nothing is in flight: 5 samples disappeared",
		  .spools = { { .sampled = 100, .stored = 95, .transit = 5 } },
		  .spool_count = 1,
		  .unaccounted = 5,
		  .why = "more samples than its batches" },
		{ .what = "Kafka had acknowledged them",
		  .spools = { { .sampled = 100, .stored = 95, .sent = 100 } },
		  .spool_count = 1,
		  .unaccounted = 5,
		  .why = "Kafka acknowledged samples that did not arrive" },
		{ .what = "more disappeared than the missing batches contain",
		  .spools = { { .sampled = 100, .stored = 50, .missing = 1, .transit = 10 } },
		  .spool_count = 1,
		  .in_flight = 10,
		  .unaccounted = 40,
		  .why = "more samples than its batches" },
		{ .what = "foreign batches took the numbers of the host's own",
		  .spools = { { .sampled = 100, .stored = 63, .conflict = 40 } },
		  .spool_count = 1,
		  .lost = { { "conflict", 40 } },
		  .lost_total = 40,
		  .unaccounted = -3,
		  .why = "numbers of other batches" },
		{ .what = "given up batches are lost as gap if no other batch is missing",
		  .spools = { { .sampled = 100, .stored = 60, .gap = 2, .transit = 40 } },
		  .spool_count = 1,
		  .lost = { { "gap", 40 } },
		  .lost_total = 40 },
		{ .what = "while batches are missing, the remainder stays in flight",
		  .spools = { { .sampled = 100,
				.stored = 60,
				.gap = 2,
				.missing = 1,
				.transit = 40 } },
		  .spool_count = 1,
		  .in_flight = 40 },
		{ .what = "given up batches that the agent reported as lost are not lost twice",
		  .spools = { { .sampled = 100,
				.lost = { { "spool_full", 40 } },
				.stored = 60,
				.gap = 2,
				.transit = 40 } },
		  .spool_count = 1,
		  .lost = { { "spool_full", 40 } },
		  .lost_total = 40 },
		{ .what = "a rejected batch is lost",
		  .spools = { { .sampled = 100, .stored = 90, .rejected = 10 } },
		  .spool_count = 1,
		  .lost = { { "rejected", 10 } },
		  .lost_total = 10 },
		{ .what = "a batch in conflict is lost by its reason",
		  .spools = { { .sampled = 100, .stored = 90, .conflict = 10 } },
		  .spool_count = 1,
		  .lost = { { "conflict", 10 } },
		  .lost_total = 10 },
		{ .what = "samples too old or too far ahead are lost by their reason",
		  .spools = { { .sampled = 100, .stored = 90, .skipped = 10, .ahead = 3 } },
		  .spool_count = 1,
		  .lost = { { "too_old", 7 }, { "too_far_ahead", 3 } },
		  .lost_total = 10 },
		{ .what = "a new spool starts at 0 and the host continues",
		  .spools = { { .sampled = 100, .lost = { { "ring_full", 1 } }, .stored = 99 },
			      { .sampled = 50, .lost = { { "ring_full", 2 } }, .stored = 48 } },
		  .spool_count = 2,
		  .lost = { { "ring_full", 3 } },
		  .lost_total = 3 },
		{ .what = "a new spool reports the losses of the old one",
		  .spools = { { .sampled = 100, .stored = 80, .missing = 2, .transit = 20 },
			      { .sampled = 50, .lost = { { "spool_full", 20 } }, .stored = 50 } },
		  .spool_count = 2,
		  .lost = { { "spool_full", 20 } },
		  .lost_total = 20 },
		{ .what = "losses of a spool whose last status never arrived",
		  .spools = { { .sampled = 50, .stored = 50 },
			      { .sampled = 50, .lost = { { "spool_full", 20 } }, .stored = 50 } },
		  .spool_count = 2,
		  .lost = { { "spool_full", 20 } },
		  .lost_total = 20,
		  .unaccounted = -20,
		  .why = "" },
		{ .what = "given up by the agent and received after all",
		  .spools = { { .sampled = 100, .lost = { { "spool_full", 5 } }, .stored = 100 } },
		  .spool_count = 1,
		  .lost = { { "spool_full", 5 } },
		  .lost_total = 5,
		  .unaccounted = -5,
		  .why = "" },
		{ .what = "no batch had a status",
		  .spools = { { .sampled = SILENT, .stored = 5 } },
		  .spool_count = 1,
		  .unaccounted = -5,
		  .why = "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_ARENA arena = { 0 };
		struct balance sum = { 0 };

		print_message("# %s\n", rows[i].what);
		for (size_t j = 0; j < rows[i].spool_count; j++) {
			struct balance_spool spool = spool_of(&rows[i].spools[j]);

			balance_add(&sum, &spool, &arena);
		}
		balance_close(&sum, &arena);
		for (size_t j = 0; j < NAMED && rows[i].lost[j].reason; j++)
			assert_int_equal(reason_of(&sum.lost, rows[i].lost[j].reason),
					 rows[i].lost[j].samples);
		assert_int_equal(total_of(&sum.lost), rows[i].lost_total);
		assert_int_equal(sum.in_flight, rows[i].in_flight);
		assert_int_equal(sum.sampled, sum.stored + rows[i].lost_total + rows[i].in_flight +
						      (uint64_t)rows[i].unaccounted);
		assert_int_equal(sum.unaccounted, rows[i].unaccounted);
		assert_int_equal(sum.why != NULL, rows[i].why != NULL);
		assert_true(!sum.why || !rows[i].why || strstr(sum.why, rows[i].why));
	}
}

static void sorts_reasons_and_leaves_out_what_is_0(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct balance sum = { 0 };
	const struct balance_spool spool = {
		.status = { .truncated = { { STR("b"), 2 }, { STR("c"), 0 }, { STR("a"), 1 } },
			    .truncated_count = 3 },
		.has_status = true,
	};

	(void)state;
	balance_add(&sum, &spool, &arena);
	balance_close(&sum, &arena);

	assert_int_equal(sum.truncated.len, 2);
	assert_true(str_eq(sum.truncated.items[0].reason, STR("a")));
	assert_int_equal(sum.truncated.items[1].samples, 2);
	assert_int_equal(sum.lost.len, 0);
}

static void adds_reasons_beyond_the_limit_to_other(void **state)
{
	enum { REASONS = 3 * STATUS_REASONS_MAX };
	AUTO_ARENA arena = { 0 };
	struct balance sum = { 0 };

	(void)state;
	for (size_t i = 0; i < REASONS; i += STATUS_REASONS_MAX) {
		struct balance_spool spool = { .status.sampled = STATUS_REASONS_MAX,
					       .has_status = true };

		for (size_t j = 0; j < STATUS_REASONS_MAX; j++)
			spool.status.lost[spool.status.lost_count++] =
				(struct status_count){ str_format(&arena, "reason %02zu", i + j),
						       1 };
		balance_add(&sum, &spool, &arena);
	}
	balance_close(&sum, &arena);

	assert_int_equal(sum.lost.len, BALANCE_REASONS_MAX);
	assert_int_equal(reason_of(&sum.lost, "other"), REASONS - (BALANCE_REASONS_MAX - 1));
	assert_int_equal(total_of(&sum.lost), REASONS);
	assert_int_equal(sum.in_flight, 0);
}

static void reports_counts_that_are_too_large(void **state)
{
	static const struct spool_row rows[] = {
		{ .sampled = SILENT - 1 },
		{ .sampled = 1, .stored = UINT64_MAX },
		{ .sampled = 1, .lost = { { "a", INT64_MAX }, { "b", 1 } } },
		{ .sampled = 1, .lost = { { "a", INT64_MAX }, { "a", INT64_MAX } } },
		{ .sampled = 1, .skipped = UINT64_MAX, .ahead = 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_ARENA arena = { 0 };
		struct balance sum = { 0 };
		struct balance_spool spool = spool_of(&rows[i]);

		balance_add(&sum, &spool, &arena);
		balance_close(&sum, &arena);
		assert_non_null(sum.why);
		assert_int_equal(sum.in_flight, 0);
	}
}

RUN_TESTS(TEST(balances_the_counts_of_spools), TEST(sorts_reasons_and_leaves_out_what_is_0),
	  TEST(adds_reasons_beyond_the_limit_to_other), TEST(reports_counts_that_are_too_large))
