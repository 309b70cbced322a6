// SPDX-License-Identifier: Apache-2.0
/*
 * Starting without threads: this program's pthread_create() replaces that of libc.
 */
#include "server/http/http.h"
#include "support/test.h"

#include <dlfcn.h>
#include <errno.h>

typedef int create_fn(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
		      void *self);

static unsigned int failures_left;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): it replaces that of libc */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
		   void *self)
{
	create_fn *real = (create_fn *)dlsym(RTLD_NEXT, "pthread_create");

	if (!failures_left)
		return real(thread, attributes, run, self);
	failures_left--;
	return EAGAIN;
}

static void without_a_thread_for_deadlines_the_server_does_not_start(void **state)
{
	const struct http_options options = { .address = "127.0.0.1:0" };
	struct http_server server = { 0 };
	struct err err = { 0 };

	(void)state;
	failures_left = 1; /* the first thread is the one that watches deadlines */
	assert_false(http_start(&server, &options, &err));
	assert_int_equal(err.code, ERR_IO);
	http_stop(&server);

	assert_true(http_start(&server, &options, &err));
	http_stop(&server);
}

RUN_TESTS(TEST(without_a_thread_for_deadlines_the_server_does_not_start))
