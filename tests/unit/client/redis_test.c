// SPDX-License-Identifier: Apache-2.0
/*
 * Uses fake servers that send what a Redis server never would, or nothing. The integration tests
 * use a real one.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "client/redis.h"
#include "support/test.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>

/* A server that responds to the first bytes of each connection with the same text. */
struct server {
	int fd;
	const char *says; /* NULL: no response, but the connection stays open */
	char address[32];
	pthread_t thread;
	_Atomic unsigned int connections;
};

static void *serve(void *self)
{
	struct server *server = self;
	int fd, open[16], count = 0;

	while (count < 16 && (fd = accept(server->fd, NULL, NULL)) >= 0) {
		char room[4096];

		server->connections++;
		open[count++] = fd;
		if (server->says && read(fd, room, sizeof(room)) > 0)
			assert_true(write(fd, server->says, strlen(server->says)) > 0);
	}
	while (count)
		close(open[--count]);
	return NULL;
}

static void start(struct server *server, const char *says)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);

	*server = (struct server){ .fd = socket(AF_INET, SOCK_STREAM, 0), .says = says };
	assert_int_equal(bind(server->fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(server->fd, 8), 0);
	assert_int_equal(getsockname(server->fd, (struct sockaddr *)&address, &len), 0);
	snprintf(server->address, sizeof(server->address), "127.0.0.1:%u",
		 (unsigned int)ntohs(address.sin_port));
	assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

static void stop(struct server *server)
{
	shutdown(server->fd, SHUT_RDWR);
	pthread_join(server->thread, NULL);
	close(server->fd);
}

static const str words[] = { { "PING", 4 } };
static const struct redis_command ping = { words, 1 };

static bool ask(struct redis *redis, struct redis_reply *reply, struct arena *arena,
		struct err *err)
{
	*err = (struct err){ 0 };
	return redis_pipeline(redis, &ping, 1, arena, reply, err);
}

static void a_malformed_address_is_rejected_and_nothing_is_left_open(void **state)
{
	const struct redis_options options = { .address = "redis://user:topsecret@h:99999" };
	struct redis redis;
	struct err err;

	(void)state;
	memset(&redis, 0xff, sizeof(redis));
	assert_false(redis_open(&redis, &options, &err));
	assert_null(strstr(err.msg, "topsecret"));
	assert_int_equal(redis.address.port, 0);
	redis_close(&redis);
}

static void a_name_with_several_addresses_is_tried_in_turn(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct redis_reply reply;
	struct server server;
	struct redis redis;
	struct err err;
	str port;

	(void)state;
	start(&server, "+PONG\r\n"); /* on 127.0.0.1 only; localhost is usually ::1 too */
	port = str_from(server.address);
	str_cut(&port, ':');

	struct redis_options options = {
		.address = str_z(&arena, str_format(&arena, "localhost:" STR_FMT, STR_ARG(port))),
		.timeout_ms = 20000,
		.reply_max = 1000
	};

	assert_true(redis_open(&redis, &options, &err));
	assert_true(ask(&redis, &reply, &arena, &err));
	redis_close(&redis);
	stop(&server);
}

static void replies_of_all_kinds_are_copied(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct redis_command four[] = { ping, ping, ping, ping };
	struct redis_reply replies[4];
	struct server server;
	struct redis redis;
	struct err err;

	(void)state;
	start(&server, "+PONG\r\n$-1\r\n*2\r\n$1\r\na\r\n$-1\r\n-ERR no\r\n");

	struct redis_options options = { .address = server.address,
					 .timeout_ms = 20000,
					 .reply_max = 1000 };

	assert_true(redis_open(&redis, &options, &err));
	assert_true(redis_pipeline(&redis, four, 4, &arena, replies, &err));
	assert_true(replies[0].kind == REDIS_STRING && str_eq(replies[0].text, STR("PONG")));
	assert_int_equal(replies[1].kind, REDIS_NIL);
	assert_true(replies[2].kind == REDIS_LIST && replies[2].count == 2);
	assert_true(str_eq(replies[2].items[0].text, STR("a")));
	assert_int_equal(replies[2].items[1].kind, REDIS_NIL);
	assert_int_equal(replies[3].kind, REDIS_ERROR_REPLY);
	redis_close(&redis);
	stop(&server);
}

static void after_a_failure_there_is_a_pause(void **state)
{
	static const char *const says[] = { NULL, "no redis\r\n", "$1000\r\nx", "*-7\r\n" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(says); i++) {
		AUTO_ARENA arena = { 0 };
		struct redis_reply reply;
		struct server server;
		struct redis redis;
		struct err err;

		start(&server, says[i]);

		struct redis_options options = { .address = server.address,
						 .timeout_ms = 50,
						 .pause_ms = 60000,
						 .reply_max = 1000 };

		assert_true(redis_open(&redis, &options, &err));
		assert_false(ask(&redis, &reply, &arena, &err));
		assert_int_equal(err.code, says[i] && i != 2 ? ERR_IO : ERR_TIMEOUT);
		assert_false(ask(&redis, &reply, &arena, &err));
		assert_int_equal(err.code, ERR_BUSY);
		/* The server may accept it after the client's timeout. */
		for (int tries = 0; server.connections == 0 && tries < 1000; tries++)
			clock_sleep_ms(10);
		assert_int_equal(server.connections, 1);
		redis_close(&redis);
		stop(&server);
	}
}

static void recovers_when_the_server_is_back(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct redis_reply reply;
	struct server server;
	struct redis redis;
	struct err err;

	(void)state;
	start(&server, "+PONG\r\n");

	struct redis_options options = { .address = server.address,
					 .timeout_ms = 20000,
					 .reply_max = 1000 };

	assert_true(redis_open(&redis, &options, &err));
	assert_true(ask(&redis, &reply, &arena, &err));
	stop(&server); /* closes the pooled connection */
	assert_false(ask(&redis, &reply, &arena, &err));
	assert_int_equal(err.code, ERR_IO);
	redis_close(&redis);
}

static void many_replies_count_only_by_their_bytes(void **state)
{
	enum { MANY = 5000 };
	AUTO_ARENA arena = { 0 };
	struct buf text = { .arena = &arena };
	struct redis_command *commands = arena_array(&arena, struct redis_command, MANY);
	struct redis_reply *replies = arena_array(&arena, struct redis_reply, MANY);
	struct server server;
	struct redis redis;
	struct err err;

	(void)state;
	for (size_t i = 0; i < MANY; i++) {
		buf_str(&text, STR("$10\r\n0123456789\r\n"));
		commands[i] = ping;
	}
	buf_u8(&text, 0);
	start(&server, text.ptr);

	struct redis_options options = { .address = server.address,
					 .timeout_ms = 20000,
					 .reply_max = text.len };

	assert_true(redis_open(&redis, &options, &err));
	assert_true(redis_pipeline(&redis, commands, MANY, &arena, replies, &err));
	assert_true(str_eq(replies[MANY - 1].text, STR("0123456789")));
	redis_close(&redis);
	stop(&server);
}

static void replies_beyond_the_limit_are_not_read(void **state)
{
	AUTO_ARENA arena = { 0 };
	struct redis_reply reply;
	struct server server;
	struct redis redis;
	struct err err;

	(void)state;
	start(&server, "$20\r\n01234567890123456789\r\n");

	struct redis_options options = { .address = server.address,
					 .timeout_ms = 20000,
					 .reply_max = 10 };

	assert_true(redis_open(&redis, &options, &err));
	assert_false(ask(&redis, &reply, &arena, &err));
	assert_non_null(strstr(err.msg, "more than expected"));
	redis_close(&redis);
	stop(&server);
}

RUN_TESTS(TEST(a_malformed_address_is_rejected_and_nothing_is_left_open),
	  TEST(a_name_with_several_addresses_is_tried_in_turn),
	  TEST(replies_of_all_kinds_are_copied), TEST(after_a_failure_there_is_a_pause),
	  TEST(recovers_when_the_server_is_back), TEST(many_replies_count_only_by_their_bytes),
	  TEST(replies_beyond_the_limit_are_not_read))
