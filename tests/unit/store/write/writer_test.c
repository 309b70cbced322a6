// SPDX-License-Identifier: Apache-2.0
/*
 * Connecting only. tests/integration/test_store.py writes to a real server.
 */
#include "store/write/writer.h"
#include "support/test.h"

static void a_failed_attempt_is_no_connection(void **state)
{
	struct store_writer writer = { .options.postgres = "host=127.0.0.1 port=1 user=u" };
	struct err err;

	(void)state;
	assert_false(store_writer_connect(&writer, &err));
	assert_int_equal(err.code, ERR_IO);
	assert_int_equal(writer.connections, 0);
	store_writer_close(&writer);
}

RUN_TESTS(TEST(a_failed_attempt_is_no_connection))
