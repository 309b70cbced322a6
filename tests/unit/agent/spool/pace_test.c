// SPDX-License-Identifier: Apache-2.0
#include "agent/spool/pace.h"
#include "base/clock.h"
#include "support/test.h"

enum { RATE = 100000, BATCH = 25000, BIG = 1000000 };

/* Bytes sent within `seconds` if every allowed batch is sent, in steps of 10 ms. */
static uint64_t sent_within(struct pace *pace, uint64_t *now_ns, unsigned int seconds,
			    uint64_t live_rate, uint64_t batch)
{
	uint64_t sent = 0;

	for (unsigned int step = 0; step < seconds * 100; step++) {
		while (pace_check(pace, live_rate, 0, *now_ns) == PACE_GO) {
			pace_sent(pace, batch);
			pace_delivered(pace, *now_ns);
			sent += batch;
		}
		*now_ns += 10 * NS_PER_MS;
	}
	return sent;
}

static void exactly_the_rate_is_sent(void **state)
{
	uint64_t now_ns = 5 * NS_PER_SECOND;
	struct pace pace;

	(void)state;
	pace_init(&pace, RATE, now_ns);

	uint64_t first = sent_within(&pace, &now_ns, 10, 0, BATCH);

	assert_in_range(first, 10 * RATE, 11 * RATE + BATCH);
	now_ns +=
		3600 * NS_PER_SECOND; /* what was not used is kept for a second, not for an hour */
	assert_in_range(sent_within(&pace, &now_ns, 10, 0, BATCH), 10 * RATE, 11 * RATE + BATCH);
}

static void a_batch_larger_than_a_second_is_sent_and_leaves_a_debt(void **state)
{
	uint64_t now_ns = 5 * NS_PER_SECOND;
	struct pace pace;

	(void)state;
	pace_init(&pace, RATE, now_ns);
	assert_in_range(sent_within(&pace, &now_ns, 100, 0, BIG), 100 * RATE, 101 * RATE + BIG);
}

static void the_backlog_shrinks_at_any_rate_of_new_batches(void **state)
{
	uint64_t now_ns = 5 * NS_PER_SECOND;
	struct pace pace;

	(void)state;
	pace_init(&pace, RATE, now_ns);
	assert_in_range(sent_within(&pace, &now_ns, 10, 3 * (uint64_t)RATE, BATCH), 60 * RATE,
			66 * RATE + BATCH);
	assert_int_equal(pace.rate, 6 * RATE);
	pace_check(&pace, RATE / 4, 0, now_ns);
	assert_int_equal(pace.rate, RATE);
}

static void without_a_rate_only_the_window_limits(void **state)
{
	uint64_t now_ns = NS_PER_SECOND;
	struct pace pace;

	(void)state;
	pace_init(&pace, 0, now_ns);
	for (size_t i = 0; i < 1000; i++) {
		assert_int_equal(pace_check(&pace, BIG, 0, now_ns), PACE_GO);
		pace_sent(&pace, BIG);
	}
	assert_int_equal(pace_check(&pace, BIG, 1, now_ns), PACE_WINDOW_FULL);
}

static void the_window_grows_with_deliveries_and_closes_without(void **state)
{
	uint64_t now_ns = NS_PER_SECOND;
	struct pace pace;

	(void)state;
	pace_init(&pace, 0, now_ns);
	for (size_t window = 1; window < PACE_WINDOW_MAX; window *= 2) {
		assert_int_equal(pace_check(&pace, 0, window - 1, now_ns), PACE_GO);
		assert_int_equal(pace_check(&pace, 0, window, now_ns), PACE_WINDOW_FULL);
		pace_delivered(&pace, now_ns);
	}
	pace_delivered(&pace, now_ns);
	assert_int_equal(pace_check(&pace, 0, PACE_WINDOW_MAX - 1, now_ns), PACE_GO);
	assert_int_equal(pace_check(&pace, 0, PACE_WINDOW_MAX, now_ns), PACE_WINDOW_FULL);

	now_ns += 3 * NS_PER_SECOND;
	assert_int_equal(pace_check(&pace, 0, 5, now_ns), PACE_WINDOW_FULL);
	pace_delivered(&pace, now_ns);
	assert_int_equal(pace_check(&pace, 0, 1, now_ns), PACE_GO);
	assert_int_equal(pace_check(&pace, 0, 2, now_ns), PACE_WINDOW_FULL);
}

static void silence_with_nothing_in_flight_is_ignored(void **state)
{
	uint64_t now_ns = NS_PER_SECOND;
	struct pace pace;

	(void)state;
	pace_init(&pace, 0, now_ns);
	pace_delivered(&pace, now_ns);
	now_ns += 60 * NS_PER_SECOND;
	assert_int_equal(pace_check(&pace, 0, 0, now_ns), PACE_GO);
	assert_int_equal(pace_check(&pace, 0, 1, now_ns), PACE_GO);
}

static void pauses_differ_within_their_half(void **state)
{
	uint64_t least = UINT64_MAX, most = 0;

	(void)state;
	for (size_t i = 0; i < 1000; i++) {
		uint64_t ms = pace_jitter(1000);

		least = ms < least ? ms : least;
		most = ms > most ? ms : most;
	}
	assert_in_range(least, 500, 550);
	assert_in_range(most, 950, 1000);
	assert_in_range(pace_jitter(1), 1, 1);
}

RUN_TESTS(TEST(exactly_the_rate_is_sent),
	  TEST(a_batch_larger_than_a_second_is_sent_and_leaves_a_debt),
	  TEST(the_backlog_shrinks_at_any_rate_of_new_batches),
	  TEST(without_a_rate_only_the_window_limits),
	  TEST(the_window_grows_with_deliveries_and_closes_without),
	  TEST(silence_with_nothing_in_flight_is_ignored), TEST(pauses_differ_within_their_half))
