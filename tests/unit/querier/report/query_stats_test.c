// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "querier/report/query_stats.h"
#include "support/test.h"

static void reports_counts_and_the_time_of_each_stage(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct query_stats stats = {
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
	/* The remainder would be negative here, so it is 0. */
	assert_string_equal(
		str_z(&arena, query_stats_text(&stats, &arena)),
		"{\"series\":1,\"rows\":20,\"chunks\":3,\"bytes\":4000,"
		"\"samples_read\":50,\"samples\":6,\"connections\":2,\"seconds\":{\"wait\":0.00025,"
		"\"find\":0.0015,\"read\":2,\"symbolize\":0,\"write\":0}}");
}

static void the_cost_of_a_part_is_added_to_the_whole(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct query_stats stats = { .began_ns = clock_monotonic_ns() + NS_PER_SECOND };
	struct query_stats part = {
		.store = { .series = 1,
			   .rows = 2,
			   .chunks = 3,
			   .bytes = 4,
			   .samples_read = 5,
			   .samples_matched = 6,
			   .connections = 7,
			   .find_ns = 8000000,
			   .read_ns = 9000000 },
		.symbols = { .addresses = 10,
			     .cached = 11,
			     .requested = 12,
			     .requests = 13,
			     .symbolized = 14,
			     .ns = 15000000,
			     .unsymbolized[NAME_NO_DEBUG_INFO] = 16,
			     .is_enabled = true },
	};

	(void)state;
	query_stats_add(&stats, &part);
	query_stats_add(&stats, &part);

	str text = query_stats_text(&stats, &arena);
	str rest = text;

	str_cut(&rest, '}'); /* the end of "unsymbolized" */
	assert_true(str_starts_with(
		text, STR("{\"series\":2,\"rows\":4,\"chunks\":6,\"bytes\":8,\"samples_read\":10,"
			  "\"samples\":12,\"connections\":15,\"symbols\":{\"addresses\":20,"
			  "\"cached\":22,\"requested\":24,\"requests\":26,\"symbolized\":28,"
			  "\"unsymbolized\":{\"no_debug_info\":32}")));
	assert_non_null(
		strstr(str_z(&arena, rest), "\"find\":0.016,\"read\":0.018,\"symbolize\":0.03"));
}

RUN_TESTS(TEST(reports_counts_and_the_time_of_each_stage),
	  TEST(the_cost_of_a_part_is_added_to_the_whole))
