// SPDX-License-Identifier: Apache-2.0
#include "client/redis.h"

#include "base/clock.h"
#include "base/cond.h"
#include "base/liveness.h"
#include "client/host_lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

enum { DEPTH_MAX = 2, AUTH_COMMANDS = 2 };

DEFINE_CLEANUP(redisContext *, redisFree)
DEFINE_CLEANUP(struct addrinfo *, freeaddrinfo)

bool redis_open(struct redis *redis, const struct redis_options *options, struct err *err)
{
	*redis = (struct redis){ .options = *options };
	if (!redis_address_parse(options->address, &redis->arena, &redis->address, err)) {
		arena_free(&redis->arena);
		return false;
	}
	pthread_mutex_init(&redis->lock, NULL);
	pthread_cond_init(&redis->released, NULL);
	return true;
}

void redis_close(struct redis *redis)
{
	if (!redis->address.port)
		return;
	while (redis->idle_count)
		redisFree(redis->idle[--redis->idle_count]);
	pthread_cond_destroy(&redis->released);
	pthread_mutex_destroy(&redis->lock);
	arena_free(&redis->arena);
	redis->address.port = 0;
}

static bool failed(const redisContext *context, struct err *err)
{
	return context && context->err ? err_set(err, ERR_IO, "Redis: %s", context->errstr)
				       : err_set(err, ERR_TIMEOUT, "Redis: no reply in time");
}

/* Wait until the socket is ready for `events`. False: the deadline has passed. */
static bool wait_ready(const redisContext *context, short events, uint64_t deadline_ns)
{
	struct pollfd fd = { .fd = context->fd, .events = events };
	uint64_t now_ns = clock_monotonic_ns();

	while (now_ns < deadline_ns) {
		uint64_t left_ms = (deadline_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS;

		if (poll(&fd, 1, liveness_wait_ms(left_ms)) > 0)
			return true;
		now_ns = clock_monotonic_ns();
	}
	return false;
}

static bool send_all(redisContext *context, uint64_t deadline_ns, struct err *err)
{
	for (int done = 0; !done;) {
		if (redisBufferWrite(context, &done) != REDIS_OK)
			return failed(context, err);
		if (!done && !wait_ready(context, POLLOUT, deadline_ns))
			return failed(NULL, err);
	}
	return true;
}

static redisReply *receive(redisContext *context, size_t *left, uint64_t deadline_ns,
			   struct err *err)
{
	for (;;) {
		void *reply = NULL;
		size_t buffered;

		if (redisGetReplyFromReader(context, &reply) != REDIS_OK) {
			failed(context, err);
			return NULL;
		}
		if (reply)
			return reply;
		buffered = context->reader->len; /* without the replies parsed so far */
		if (!wait_ready(context, POLLIN, deadline_ns) ||
		    redisBufferRead(context) != REDIS_OK) {
			failed(context, err);
			return NULL;
		}

		size_t came = context->reader->len - buffered;

		if (context->reader->len < buffered || came > *left) {
			err_set(err, ERR_IO, "Redis: more than expected in one pipeline");
			return NULL;
		}
		*left -= came;
	}
}

static struct redis_reply copy(const redisReply *reply, struct arena *arena, int depth)
{
	struct redis_reply copied = { .number = reply->integer };
	struct redis_reply *items;

	switch (reply->type) {
	case REDIS_REPLY_STRING:
	case REDIS_REPLY_STATUS:
		copied.kind = REDIS_STRING;
		copied.text = str_copy(arena, (str){ reply->str, reply->len });
		break;
	case REDIS_REPLY_ERROR:
		copied.kind = REDIS_ERROR_REPLY;
		copied.text = str_copy(arena, (str){ reply->str, reply->len });
		break;
	case REDIS_REPLY_INTEGER:
		copied.kind = REDIS_NUMBER;
		break;
	case REDIS_REPLY_ARRAY:
		copied.kind = REDIS_LIST;
		copied.count = depth < DEPTH_MAX ? reply->elements : 0;
		items = arena_array(arena, struct redis_reply, copied.count);
		for (size_t i = 0; i < copied.count; i++)
			items[i] = copy(reply->element[i], arena, depth + 1);
		copied.items = items;
		break;
	default:
		break;
	}
	return copied;
}

static void append(redisContext *context, const struct redis_command *command)
{
	AUTO_ARENA arena = { 0 };
	const char **words = arena_array(&arena, const char *, command->count);
	size_t *lens = arena_array(&arena, size_t, command->count);

	for (size_t i = 0; i < command->count; i++) {
		words[i] = command->words[i].len ? command->words[i].ptr : "";
		lens[i] = command->words[i].len;
	}
	redisAppendCommandArgv(context, (int)command->count, words, lens);
}

/* Send all commands and receive all replies. */
static bool run_commands(redisContext *context, const struct redis_command *commands, size_t count,
			 uint64_t deadline_ns, size_t reply_max, struct arena *arena,
			 struct redis_reply *replies, struct err *err)
{
	size_t left = reply_max;

	for (size_t i = 0; i < count; i++)
		append(context, &commands[i]);
	if (!send_all(context, deadline_ns, err))
		return false;
	for (size_t i = 0; i < count; i++) {
		redisReply *reply = receive(context, &left, deadline_ns, err);

		if (!reply)
			return false;
		replies[i] = copy(reply, arena, 0);
		freeReplyObject(reply);
	}
	return true;
}

/* AUTH and SELECT, as the address requires. */
static bool authenticate(const struct redis *redis, redisContext *context, uint64_t deadline_ns,
			 struct err *err)
{
	AUTO_ARENA arena = { 0 };
	str auth[3] = { STR("AUTH") }, number[2] = { STR("SELECT") };
	struct redis_command commands[AUTH_COMMANDS];
	struct redis_reply replies[AUTH_COMMANDS];
	size_t count = 0, words = 1;

	if (redis->address.user.len)
		auth[words++] = redis->address.user;
	auth[words++] = redis->address.password;
	if (redis->address.password.len)
		commands[count++] = (struct redis_command){ auth, words };
	number[1] = str_format(&arena, "%ju", (uintmax_t)redis->address.number);
	if (redis->address.number)
		commands[count++] = (struct redis_command){ number, 2 };
	if (!run_commands(context, commands, count, deadline_ns, 4096, &arena, replies, err))
		return false;
	for (size_t i = 0; i < count; i++)
		if (replies[i].kind == REDIS_ERROR_REPLY)
			return err_set(err, ERR_IO, "Redis: " STR_FMT, STR_ARG(replies[i].text));
	return true;
}

/* hiredis takes text only: a numeric address, so that it does not look up a name. */
static redisContext *connect_address(const struct redis *redis, const struct addrinfo *address,
				     uint64_t deadline_ns, struct err *err)
{
	char host[NI_MAXHOST];
	int why = getnameinfo(address->ai_addr, address->ai_addrlen, host, sizeof(host), NULL, 0,
			      NI_NUMERICHOST);
	socklen_t len = sizeof(why);

	if (why) {
		err_set(err, ERR_IO, "Redis: %s", gai_strerror(why));
		return NULL;
	}

	CLEANUP(redisFreep)
	redisContext *context = redisConnectNonBlock(host, redis->address.port);

	if (!context || context->err || !wait_ready(context, POLLOUT, deadline_ns)) {
		failed(context, err);
		return NULL;
	}
	if (getsockopt(context->fd, SOL_SOCKET, SO_ERROR, &why, &len) || why) {
		errno = why;
		err_errno(err, "connect to Redis");
		return NULL;
	}
	fcntl(context->fd, F_SETFD, FD_CLOEXEC);
	return TAKE(context);
}

/* Try the addresses of the host in turn. Each gets an equal share of the time that is left. */
static redisContext *connect_to(const struct redis *redis, uint64_t deadline_ns, struct err *err)
{
	CLEANUP(freeaddrinfop) struct addrinfo *addresses = NULL;
	CLEANUP(redisFreep) redisContext *context = NULL;
	uint64_t left = 0;

	if (!host_lookup(redis->address.host, redis->address.port, deadline_ns, &addresses, err)) {
		err_wrap(err, "Redis");
		return NULL;
	}
	for (const struct addrinfo *each = addresses; each; each = each->ai_next)
		left++;
	for (const struct addrinfo *each = addresses; each && !context; each = each->ai_next) {
		uint64_t now_ns = clock_monotonic_ns();
		uint64_t time_ns = now_ns < deadline_ns ? (deadline_ns - now_ns) / left-- : 0;

		context = connect_address(redis, each, now_ns + time_ns, err);
	}
	if (!context || !authenticate(redis, context, deadline_ns, err))
		return NULL;
	return TAKE(context);
}

/* Acquire a connection of the pool. False: all were in use until the deadline. *ret_context is NULL
 * if the caller must open a new connection. */
static bool acquire(struct redis *redis, uint64_t deadline_ns, redisContext **ret_context)
{
	bool is_free = true;

	*ret_context = NULL;
	pthread_mutex_lock(&redis->lock);
	while (redis->busy_count == REDIS_CONNECTIONS && is_free)
		is_free = cond_wait(&redis->released, &redis->lock, deadline_ns);
	is_free = redis->busy_count < REDIS_CONNECTIONS;
	if (is_free) {
		redis->busy_count++;
		if (redis->idle_count)
			*ret_context = redis->idle[--redis->idle_count];
	}
	pthread_mutex_unlock(&redis->lock);
	return is_free;
}

/* Release a connection to the pool. NULL: it failed; then the idle ones are closed as well, because
 * they have probably failed too. */
static void release(struct redis *redis, redisContext *context)
{
	pthread_mutex_lock(&redis->lock);
	redis->busy_count--;
	if (context)
		redis->idle[redis->idle_count++] = context;
	while (!context && redis->idle_count)
		redisFree(redis->idle[--redis->idle_count]);
	pthread_cond_signal(&redis->released);
	pthread_mutex_unlock(&redis->lock);
}

/* An idle connection that the server has closed is readable without a request. */
static bool is_alive(const redisContext *context)
{
	struct pollfd fd = { .fd = context->fd, .events = POLLIN };

	return poll(&fd, 1, 0) == 0;
}

bool redis_pipeline(struct redis *redis, const struct redis_command *commands, size_t count,
		    struct arena *arena, struct redis_reply *replies, struct err *err)
{
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t deadline_ns = now_ns + redis->options.timeout_ms * NS_PER_MS;
	redisContext *context;

	if (now_ns < redis->away_until_ns)
		return err_set(err, ERR_BUSY, "Redis failed a moment ago");
	if (!acquire(redis, deadline_ns, &context))
		return err_set(err, ERR_BUSY, "all connections to Redis are in use");
	if (clock_monotonic_ns() < redis->away_until_ns) { /* failed while this thread waited */
		release(redis, context);
		return err_set(err, ERR_BUSY, "Redis failed a moment ago");
	}
	if (context && !is_alive(context)) {
		redisFree(context);
		context = NULL;
	}
	if (!context)
		context = connect_to(redis, deadline_ns, err);
	if (context && !run_commands(context, commands, count, deadline_ns,
				     redis->options.reply_max, arena, replies, err)) {
		redisFree(context);
		context = NULL;
	}
	release(redis, context);
	if (!context)
		redis->away_until_ns = clock_monotonic_ns() + redis->options.pause_ms * NS_PER_MS;
	return context != NULL;
}
