// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/token_bucket.h"
#include "support/test.h"

enum { RATE = 30000, BURST = 60000 };

static const uint64_t now = 100 * NS_PER_SECOND;

static void begins_with_a_burst_and_adds_no_more(void **state)
{
	struct token_bucket bucket = { 0 };

	(void)state;
	token_bucket_refill(&bucket, RATE, BURST, now);
	assert_int_equal(bucket.tokens, BURST);
	bucket.tokens--;
	token_bucket_refill(&bucket, RATE, BURST, 1000 * now);
	assert_int_equal(bucket.tokens, BURST);
}

static void parts_of_a_token_add_up(void **state)
{
	struct token_bucket bucket = { 0 };

	(void)state;
	token_bucket_refill(&bucket, RATE, BURST, now);
	bucket.tokens = 0;
	/* in steps of less than a token */
	for (uint64_t i = 1; i <= 100000; i++)
		token_bucket_refill(&bucket, RATE, BURST, now + i * 10000);
	assert_in_range(bucket.tokens, RATE - 1, RATE);
}

static void no_time_pays_twice(void **state)
{
	struct token_bucket bucket = { 0 };

	(void)state;
	token_bucket_refill(&bucket, 3, BURST, now);
	bucket.tokens = 0;
	for (uint64_t ns = 0; ns < 10 * NS_PER_SECOND; ns += 333333)
		token_bucket_refill(&bucket, 3, BURST, now + ns);
	assert_int_equal(bucket.tokens, 29);
}

static void a_debt_is_paid_by_time(void **state)
{
	struct token_bucket bucket = { 0 };

	(void)state;
	token_bucket_refill(&bucket, RATE, BURST, now);
	bucket.tokens -= BURST + 3 * RATE;
	token_bucket_refill(&bucket, RATE, BURST, now + 2 * NS_PER_SECOND);
	assert_int_equal(bucket.tokens, -RATE);
	token_bucket_refill(&bucket, RATE, BURST, now + 4 * NS_PER_SECOND);
	assert_int_equal(bucket.tokens, RATE);
}

static void a_smaller_burst_takes_effect_at_once(void **state)
{
	struct token_bucket bucket = { 0 };

	(void)state;
	token_bucket_refill(&bucket, RATE, BURST, now);
	token_bucket_refill(&bucket, RATE, BURST / 4, now);
	assert_int_equal(bucket.tokens, BURST / 4);
}

static void extreme_values_do_not_overflow(void **state)
{
	struct token_bucket bucket = { .tokens = INT64_MIN / 2, .refilled_ns = 1 };

	(void)state;
	token_bucket_refill(&bucket, UINT64_MAX, INT64_MAX / 2, UINT64_MAX);
	assert_int_equal(bucket.tokens, INT64_MAX / 2);
	bucket = (struct token_bucket){ .tokens = INT64_MIN / 2, .refilled_ns = 1 };
	token_bucket_refill(&bucket, 0, INT64_MAX / 2, UINT64_MAX);
	assert_int_equal(bucket.tokens, INT64_MIN / 2);
}

RUN_TESTS(TEST(begins_with_a_burst_and_adds_no_more), TEST(parts_of_a_token_add_up),
	  TEST(no_time_pays_twice), TEST(a_debt_is_paid_by_time),
	  TEST(a_smaller_burst_takes_effect_at_once), TEST(extreme_values_do_not_overflow))
