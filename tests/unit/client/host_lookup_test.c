// SPDX-License-Identifier: Apache-2.0
/*
 * This program's getaddrinfo() replaces that of libc, for hiredis too: names below .test belong to
 * a name server that does not respond.
 */
#include "base/clock.h"
#include "client/host_lookup.h"
#include "client/postgres.h"
#include "client/redis.h"
#include "support/test.h"

#include <netdb.h>
#include <pthread.h>

enum { SILENT_SECONDS = 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned int asked, answered; /* lookups of names below .test */
static bool responds;

static struct addrinfo *loopback(void)
{
	static struct sockaddr_storage unused;
	struct addrinfo *address = calloc(1, sizeof(*address));

	assert_non_null(address);
	address->ai_family = AF_INET;
	address->ai_addrlen = sizeof(unused);
	return address;
}

/* Until the name server responds, or the resolver gives up. */
static int ask_server(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += SILENT_SECONDS;
	pthread_mutex_lock(&lock);
	asked++;
	pthread_cond_broadcast(&changed);
	while (!responds && pthread_cond_timedwait(&changed, &lock, &until) == 0)
		;
	answered++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return EAI_AGAIN;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): it replaces that of libc */
int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
		struct addrinfo **ret_addresses)
{
	(void)port;
	if (strstr(host, ".test"))
		return hints->ai_flags & AI_NUMERICHOST ? EAI_NONAME : ask_server();
	*ret_addresses = loopback();
	return 0;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): it replaces that of libc */
void freeaddrinfo(struct addrinfo *addresses)
{
	free(addresses);
}

/* A lookup begins in a thread of its own, perhaps after its caller has given up. */
static void let_the_server_respond(unsigned int lookups)
{
	pthread_mutex_lock(&lock);
	while (asked < lookups)
		pthread_cond_wait(&changed, &lock);
	responds = true;
	pthread_cond_broadcast(&changed);
	while (answered < asked)
		pthread_cond_wait(&changed, &lock);
	responds = false;
	asked = answered = 0;
	pthread_mutex_unlock(&lock);
}

static uint64_t soon(void)
{
	return clock_monotonic_ns() + 20 * NS_PER_MS;
}

static void a_numeric_address_needs_no_name_server(void **state)
{
	struct addrinfo *addresses;
	struct err err;

	(void)state;
	assert_true(host_lookup("127.0.0.1", 1, soon(), &addresses, &err));
	freeaddrinfo(addresses);
	assert_int_equal(asked, 0);
}

static void an_unknown_name_is_an_error(void **state)
{
	struct addrinfo *addresses;
	struct err err;

	(void)state;
	responds = true;
	assert_false(host_lookup("redis.test", 1, clock_monotonic_ns() + 600 * NS_PER_SECOND,
				 &addresses, &err));
	assert_int_equal(err.code, ERR_IO);
	let_the_server_respond(1);
}

static unsigned int count_asked(void)
{
	unsigned int count;

	pthread_mutex_lock(&lock);
	count = asked;
	pthread_mutex_unlock(&lock);
	return count;
}

static void lookups_that_wait_are_bounded(void **state)
{
	struct addrinfo *addresses;
	uint64_t refused;
	struct err err;

	(void)state;
	while (count_asked() < HOST_LOOKUPS_MAX) {
		assert_false(host_lookup("redis.test", 1, soon(), &addresses, &err));
		assert_true(err.code == ERR_TIMEOUT || err.code == ERR_BUSY);
	}
	refused = host_lookups_refused();
	assert_false(host_lookup("redis.test", 1, soon(), &addresses, &err));
	assert_int_equal(err.code, ERR_BUSY);
	assert_int_equal(host_lookups_refused(), refused + 1);
	assert_int_equal(count_asked(), HOST_LOOKUPS_MAX);
	let_the_server_respond(HOST_LOOKUPS_MAX);
}

static void redis_does_not_wait_for_a_silent_name_server(void **state)
{
	static const str words[] = { { "PING", 4 } };
	const struct redis_command ping = { words, 1 };
	const struct redis_options options = { .address = "redis.test:6379",
					       .timeout_ms = 20,
					       .reply_max = 100 };
	AUTO_ARENA arena = { 0 };
	struct redis_reply reply;
	struct redis redis;
	struct err err;

	(void)state;
	assert_true(redis_open(&redis, &options, &err));
	assert_false(redis_pipeline(&redis, &ping, 1, &arena, &reply, &err));
	assert_int_equal(answered, 0); /* the lookup still waits */
	assert_int_equal(err.code, ERR_TIMEOUT);
	redis_close(&redis);
	let_the_server_respond(1);
}

static void postgresql_does_not_wait_for_a_silent_name_server(void **state)
{
	struct postgres_options options = { .conninfo = "host=postgres.test,/nowhere",
					    .application = "test",
					    .deadline_ms = 20 };
	struct postgres pg;
	struct err err;

	(void)state;
	assert_false(postgres_open(&pg, &options, &err));
	assert_int_equal(answered, 0); /* the lookup still waits */
	assert_int_equal(err.code, ERR_IO);
	assert_string_equal(err.msg, "PostgreSQL: connect: postgres.test was not resolved");
	let_the_server_respond(1);

	assert_int_equal(setenv("PGHOST", "default.test", 1), 0);
	options.conninfo = "dbname=x";
	assert_false(postgres_open(&pg, &options, &err));
	assert_string_equal(err.msg, "PostgreSQL: connect: default.test was not resolved");
	let_the_server_respond(1);
	unsetenv("PGHOST");

	responds = true; /* the name does not exist */
	options.conninfo = "host=postgres.test";
	assert_false(postgres_open(&pg, &options, &err));
	assert_non_null(strstr(err.msg, "PostgreSQL: connect: "));
	assert_null(strstr(err.msg, "was not resolved"));
	let_the_server_respond(1);
}

RUN_TESTS(TEST(a_numeric_address_needs_no_name_server), TEST(an_unknown_name_is_an_error),
	  TEST(redis_does_not_wait_for_a_silent_name_server),
	  TEST(postgresql_does_not_wait_for_a_silent_name_server),
	  TEST(lookups_that_wait_are_bounded))
