// SPDX-License-Identifier: Apache-2.0
#include "server/http/http_body_internal.h"
#include "server/http/http_metrics_internal.h"
#include "server/limits.h"
#include "support/test.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

enum { PIECE = 1 << 20, BODIES = HTTP_BODIES_MAX / PIECE };
enum { THREADS = 4, ROUNDS = 2000 };

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

static void *add_and_free(void *self)
{
	static const char bytes[HTTP_BODY_SMALL + 1];
	pthread_barrier_t *round = self;

	for (int i = 0; i < ROUNDS; i++) {
		struct http_body body = { 0 };

		if (!http_body_add(&body, (str){ bytes, sizeof(bytes) }))
			abort();
		pthread_barrier_wait(round); /* all are freed at once */
		http_body_free(&body);
		pthread_barrier_wait(round); /* all bodies are freed */
		pthread_barrier_wait(round); /* the gauge was read */
	}
	return NULL;
}

static bool shows(const char *line)
{
	AUTO_ARENA arena = { 0 };
	struct buf out = { .arena = &arena };

	metrics_write(&out);
	return str_find(buf_bytes(&out), str_from(line)) != SIZE_MAX;
}

static void the_gauge_is_exact_whatever_the_order_of_the_threads(void **state)
{
	pthread_t threads[THREADS];
	pthread_barrier_t round;
	struct http_body body = { 0 };
	int wrong = 0;

	(void)state;
	mallopt(M_MMAP_THRESHOLD, PIECE); /* so that free() takes no time */
	metrics_register(http_metrics);
	assert_true(http_body_add(&body, piece_of(PIECE)));
	assert_true(shows("\ndecima_http_bodies_bytes 1048576\n"));
	http_body_free(&body);
	assert_int_equal(pthread_barrier_init(&round, NULL, THREADS + 1), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_and_free, &round), 0);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&round);
		pthread_barrier_wait(&round);
		wrong += !shows("\ndecima_http_bodies_bytes 0\n");
		pthread_barrier_wait(&round);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&round);
	assert_int_equal(wrong, 0);
}

RUN_TESTS(TEST(pieces_become_one_body), TEST(all_bodies_together_are_bounded),
	  TEST(the_gauge_is_exact_whatever_the_order_of_the_threads))
