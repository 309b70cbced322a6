#include "base/clock.h"
#include "stats.h"
#include "test.h"

static void says_what_was_read_and_how_long_each_stage_took(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct answer_stats stats = {
		.store = { .series = 1,
			   .rows = 20,
			   .chunks = 3,
			   .bytes = 4000,
			   .samples_read = 50,
			   .samples_matched = 6,
			   .connections = 1,
			   .find_ns = 1500000,
			   .read_ns = 2000000000 },
		.wait_ns = 250000,
		.began_ns = clock_monotonic_ns(),
	};

	(void)state;
	/* The rest would be below nothing here: it is 0. */
	assert_string_equal(
		str_z(&arena, stats_text(&stats, &arena)),
		"{\"series\":1,\"rows\":20,\"chunks\":3,\"bytes\":4000,"
		"\"samples_read\":50,\"samples\":6,\"connections\":2,\"seconds\":{\"wait\":0.00025,"
		"\"find\":0.0015,\"read\":2,\"names\":0,\"write\":0}}");
}

RUN_TESTS(TEST(says_what_was_read_and_how_long_each_stage_took))
