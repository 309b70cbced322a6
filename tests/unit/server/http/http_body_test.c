// SPDX-License-Identifier: Apache-2.0
#include "server/http/http_body_internal.h"
#include "server/limits.h"
#include "support/test.h"

#include <stdlib.h>

enum { PIECE = 1 << 20, BODIES = HTTP_BODIES_MAX / PIECE };

static str piece_of(size_t len)
{
	static char bytes[PIECE];

	memset(bytes, 'x', sizeof(bytes));
	return (str){ bytes, len };
}

static void pieces_become_one_body(void **state)
{
	struct http_body body = { 0 };

	(void)state;
	assert_true(http_body_add(&body, STR("one ")));
	assert_true(http_body_add(&body, (str){ 0 }));
	assert_true(http_body_add(&body, piece_of(5000)));
	assert_true(http_body_add(&body, STR(" end")));
	assert_int_equal(body.len, 5008);
	assert_memory_equal(body.ptr, "one xx", 6);
	assert_memory_equal(body.ptr + 5000, "xxxx end", 8);
	http_body_free(&body);
	assert_null(body.ptr);
	http_body_free(&body);
}

static void all_bodies_together_are_bounded(void **state)
{
	static struct http_body bodies[BODIES];
	struct http_body more = { 0 }, small = { 0 };

	(void)state;
	for (size_t i = 0; i < BODIES; i++)
		assert_true(http_body_add(&bodies[i], piece_of(PIECE)));
	assert_true(http_body_add(&more, piece_of(HTTP_BODY_SMALL)));
	assert_false(http_body_add(&more, STR("x")));
	assert_null(more.ptr);
	assert_true(http_body_add(&small, piece_of(100)));
	http_body_free(&bodies[0]);
	assert_true(http_body_add(&more, piece_of(PIECE)));
	assert_false(http_body_add(&small, piece_of(PIECE)));
	for (size_t i = 0; i < BODIES; i++)
		http_body_free(&bodies[i]);
	assert_true(http_body_add(&small, piece_of(PIECE)));
	http_body_free(&small);
	http_body_free(&more);
}

RUN_TESTS(TEST(pieces_become_one_body), TEST(all_bodies_together_are_bounded))
