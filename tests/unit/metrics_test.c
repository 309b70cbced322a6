#include "base/str.h"
#include "chassis/metrics.h"
#include "test.h"

static struct metric stored = { .name = "decima_test_stored_total",
				.kind = METRIC_COUNTER,
				.help = "Stored." };
static const char *const reasons[] = { "ring_full", "gap" };
static struct metric lost = { .name = "decima_test_lost",
			      .kind = METRIC_GAUGE,
			      .help = "Lost.",
			      .label = "reason",
			      .values = reasons,
			      .value_count = 2 };

static void prints_every_value_zeros_too(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct buf out = { .arena = &arena };
	struct metric *const mine[] = { &stored, &lost };

	(void)state;
	metrics_register(mine, 2);
	metrics_register(mine, 2); /* again: no second line */
	metric_add(&stored, 5);
	metric_add(&stored, 2);
	metric_set_at(&lost, 1, -3);
	metrics_write(&out);

	str text = buf_bytes(&out);
	str expected = STR("# HELP decima_test_stored_total Stored.\n"
			   "# TYPE decima_test_stored_total counter\n"
			   "decima_test_stored_total 7\n"
			   "# HELP decima_test_lost Lost.\n"
			   "# TYPE decima_test_lost gauge\n"
			   "decima_test_lost{reason=\"ring_full\"} 0\n"
			   "decima_test_lost{reason=\"gap\"} -3\n"
			   "# HELP process_cpu_seconds_total");

	assert_true(str_starts_with(text, expected));
	assert_true(str_find(text, STR("process_resident_memory_bytes ")) != SIZE_MAX);
	assert_true(str_find(text, STR("process_open_fds ")) != SIZE_MAX);
}

RUN_TESTS(TEST(prints_every_value_zeros_too))
