// SPDX-License-Identifier: Apache-2.0
#include "base/str.h"
#include "server/metrics/metrics.h"
#include "support/test.h"

static const char *const reasons[] = { "ring_full", "gap" };

static uint64_t count_elsewhere(void)
{
	return 42;
}

#define SAMPLE_METRICS(ROW)                                                         \
	ROW(stored, METRIC_COUNTER, "decima_test_stored_total", "Stored.")          \
	ROW(elsewhere, METRIC_COUNTER, "decima_test_elsewhere_total", "Elsewhere.", \
	    .read = count_elsewhere)                                                \
	ROW(lost, METRIC_GAUGE, "decima_test_lost", "Lost.",                        \
	    METRIC_LABEL("reason", reasons, ARRAY_LEN(reasons)))

METRICS(sample_metrics, SAMPLE_METRICS);

static void exports_all_values_including_zeros(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct buf out = { .arena = &arena };

	(void)state;
	metrics_register(sample_metrics);
	metrics_register(sample_metrics); /* again: not exported twice */
	metric_add(&stored, 5);
	metric_add(&stored, 2);
	metric_set_at(&lost, 1, -3);
	metrics_write(&out);

	str text = buf_bytes(&out);
	str expected = STR("# HELP decima_test_stored_total Stored.\n"
			   "# TYPE decima_test_stored_total counter\n"
			   "decima_test_stored_total 7\n"
			   "# HELP decima_test_elsewhere_total Elsewhere.\n"
			   "# TYPE decima_test_elsewhere_total counter\n"
			   "decima_test_elsewhere_total 42\n"
			   "# HELP decima_test_lost Lost.\n"
			   "# TYPE decima_test_lost gauge\n"
			   "decima_test_lost{reason=\"ring_full\"} 0\n"
			   "decima_test_lost{reason=\"gap\"} -3\n"
			   "# HELP process_cpu_seconds_total");

	assert_true(str_starts_with(text, expected));
	assert_true(str_find(text, STR("process_resident_memory_bytes ")) != SIZE_MAX);
	assert_true(str_find(text, STR("process_open_fds ")) != SIZE_MAX);
}

static _Atomic int64_t lag_cells[3];
static const struct metric_numbers lag_numbers = { ARRAY_LEN(lag_cells), lag_cells };
static struct metric lag = { .name = "decima_test_lag",
			     .kind = METRIC_GAUGE,
			     .help = "Lag.",
			     .label = "partition",
			     .numbered = &lag_numbers };

static void a_numbered_label_exports_the_numbers_that_are_set(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct buf out = { .arena = &arena }, empty = { .arena = &arena };
	struct metric *const mine[] = { &lag, NULL };

	(void)state;
	metrics_register(mine);
	metric_set_number(&lag, 0, 0);
	metric_set_number(&lag, 1, 5);
	metric_set_number(&lag, 2, 7);
	metric_set_number(&lag, 3, 9); /* beyond `count`: ignored */
	metric_clear_number(&lag, 1);
	metrics_write(&out);
	assert_true(str_find(buf_bytes(&out), STR("# TYPE decima_test_lag gauge\n"
						  "decima_test_lag{partition=\"0\"} 0\n"
						  "decima_test_lag{partition=\"2\"} 7\n# ")) !=
		    SIZE_MAX);

	for (size_t i = 0; i < 4; i++)
		metric_clear_number(&lag, i);
	metrics_write(&empty);
	assert_true(str_find(buf_bytes(&empty), STR("decima_test_lag{")) == SIZE_MAX);
}

static const uint64_t bounds[] = { 500, 1000, 2500 };
static struct metric took = { .name = "decima_test_took_seconds",
			      .kind = METRIC_HISTOGRAM,
			      .help = "Took.",
			      .unit = 1000,
			      .bounds = bounds,
			      .bound_count = ARRAY_LEN(bounds) };

/* Buckets are cumulative, bounds are inclusive, and the last bucket is unbounded. */
static void a_histogram_is_cumulative_in_its_unit(void **state)
{
	static const uint64_t values[] = { 0, 500, 501, 2500, 2501, UINT32_MAX };
	AUTO_ARENA arena = { 0 };
	struct buf out = { .arena = &arena };
	struct metric *const mine[] = { &took, NULL };

	(void)state;
	metrics_register(mine);
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		metric_observe(&took, values[i]);
	metrics_write(&out);

	assert_true(str_find(buf_bytes(&out), STR("# TYPE decima_test_took_seconds histogram\n"
						  "decima_test_took_seconds_bucket{le=\"0.5\"} 2\n"
						  "decima_test_took_seconds_bucket{le=\"1\"} 3\n"
						  "decima_test_took_seconds_bucket{le=\"2.5\"} 4\n"
						  "decima_test_took_seconds_bucket{le=\"+Inf\"} 6\n"
						  "decima_test_took_seconds_sum 4294973.3\n"
						  "decima_test_took_seconds_count 6\n")) !=
		    SIZE_MAX);
}

static const char *const doors[] = { "/", "/api" };
static _Atomic int64_t door_cells[4];
static const struct metric_pairs by_reason = { "reason", reasons, 2, door_cells };
static struct metric knocks = { .name = "decima_test_knocks_total",
				.kind = METRIC_COUNTER,
				.help = "Knocks.",
				.label = "door",
				.values = doors,
				.value_count = 2,
				.pairs = &by_reason };

static void two_labels_export_only_pairs_that_are_not_zero(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct buf out = { .arena = &arena };
	struct metric *const mine[] = { &knocks, NULL };

	(void)state;
	metrics_register(mine);
	metric_add_pair(&knocks, 0, 1, 3);
	metric_add_pair(&knocks, 1, 0, 4);
	metrics_write(&out);

	assert_true(str_find(buf_bytes(&out),
			     STR("# TYPE decima_test_knocks_total counter\n"
				 "decima_test_knocks_total{door=\"/\",reason=\"gap\"} 3\n"
				 "decima_test_knocks_total{door=\"/api\",reason=\"ring_full\"} 4\n"
				 "#")) != SIZE_MAX);
}

RUN_TESTS(TEST(exports_all_values_including_zeros),
	  TEST(a_numbered_label_exports_the_numbers_that_are_set),
	  TEST(a_histogram_is_cumulative_in_its_unit),
	  TEST(two_labels_export_only_pairs_that_are_not_zero))
