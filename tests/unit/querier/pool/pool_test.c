// SPDX-License-Identifier: Apache-2.0
/*
 * The errors of a pool that gives nothing. The integration tests use one that does.
 */
#include "querier/pool/pool.h"
#include "support/test.h"

static struct pool pool;

enum { QUERY = 100, ALL = 250 }; /* bytes */

static uint64_t bytes; /* of the query */

/* Nothing listens on port 1. */
static const struct pool_options options = {
	.store.postgres = "host=127.0.0.1 port=1 user=u dbname=d",
	.count = 1,
	.connections = 1,
	.memory_max = ALL,
	.query_memory_max = QUERY,
};

static int open_pool(void **state)
{
	(void)state;
	pool_init(&pool, &options);
	bytes = 0;
	return 0;
}

static int close_pool(void **state)
{
	(void)state;
	pool.items[0].is_busy = false;
	pool_done(&pool);
	return 0;
}

static struct err err; /* of the last acquire() */

static enum err_code acquire(uint64_t timeout_ms, const struct cancel *cancel)
{
	const struct store_bounds bounds = { clock_monotonic_ns() + timeout_ms * NS_PER_MS,
					     cancel };

	err = (struct err){ 0 };
	assert_null(pool_acquire(&pool, &bytes, &bounds, &err));
	assert_true(err.msg[0]);
	return err.code;
}

static void busy_items_are_an_error_of_their_own(void **state)
{
	(void)state;
	pool.items[0].is_busy = true;
	pool.waiting = POOL_WAITING_MAX; /* rejected at once */
	assert_int_equal(acquire(600000, NULL), ERR_BUSY);
	assert_non_null(strstr(err.msg, "--query-concurrency"));
	assert_int_equal(bytes, 0);
	pool.waiting = 0;
}

static void the_bounds_end_the_wait_with_their_own_code(void **state)
{
	static const struct cancel cancelled = { .fd = -1, .requested_ns = 1 };

	(void)state;
	pool.items[0].is_busy = true;
	assert_int_equal(acquire(1, NULL), ERR_TIMEOUT);
	assert_int_equal(acquire(600000, &cancelled), ERR_CANCELLED);
	assert_int_equal(pool.waiting, 0);
}

static void an_unreachable_server_is_unavailable_and_the_item_is_free_again(void **state)
{
	(void)state;
	assert_int_equal(acquire(600000, NULL), ERR_IO);
	assert_false(pool.items[0].is_busy);
}

static void a_connection_that_fails_after_the_deadline_is_a_timeout(void **state)
{
	(void)state;
	assert_int_equal(acquire(0, NULL), ERR_TIMEOUT);
}

static void a_query_counts_once_until_its_response_was_sent(void **state)
{
	(void)state;
	assert_int_equal(acquire(600000, NULL), ERR_IO);
	assert_int_equal(bytes, QUERY);
	assert_int_equal(acquire(600000, NULL), ERR_IO); /* a second read of the same query */
	assert_int_equal(pool.memory, QUERY);
	pool_set_memory(&pool, bytes, 30);
	assert_int_equal(pool.memory, 30);
	pool_set_memory(&pool, 30, 0);
	assert_int_equal(pool.memory, 0);
}

static void a_query_without_memory_waits_and_is_rejected(void **state)
{
	(void)state;
	pool_set_memory(&pool, 0, ALL - QUERY + 1); /* responses that are being read */
	assert_int_equal(acquire(1, NULL), ERR_TIMEOUT);
	pool.waiting = POOL_WAITING_MAX;
	assert_int_equal(acquire(600000, NULL), ERR_BUSY);
	assert_non_null(strstr(err.msg, "--memory-limit"));
	assert_int_equal(bytes, 0);
	assert_false(pool.items[0].is_busy);
	pool_set_memory(&pool, ALL - QUERY + 1, ALL - QUERY);
	assert_int_equal(acquire(600000, NULL), ERR_IO);
	assert_int_equal(pool.memory, ALL);
}

#define POOL_TEST(name) cmocka_unit_test_setup_teardown(name, open_pool, close_pool)

RUN_TESTS(POOL_TEST(busy_items_are_an_error_of_their_own),
	  POOL_TEST(the_bounds_end_the_wait_with_their_own_code),
	  POOL_TEST(an_unreachable_server_is_unavailable_and_the_item_is_free_again),
	  POOL_TEST(a_query_counts_once_until_its_response_was_sent),
	  POOL_TEST(a_query_without_memory_waits_and_is_rejected),
	  POOL_TEST(a_connection_that_fails_after_the_deadline_is_a_timeout))
