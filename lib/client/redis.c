// SPDX-License-Identifier: Apache-2.0
#include "client/redis.h"

#include "base/clock.h"
#include "base/cond.h"

#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

enum { DEPTH_MAX = 2, AUTH_COMMANDS = 2 };

DEFINE_CLEANUP(redisContext *, redisFree)

/* Parse and skip "user:password@". */
static void parse_user(struct redis *redis, str *text)
{
	size_t at = str_find(*text, STR("@"));

	if (at == SIZE_MAX)
		return;

	str user = { text->ptr, at };

	*text = str_skip(*text, at + 1);
	redis->user = str_copy(&redis->arena, str_cut(&user, ':'));
	redis->password = str_copy(&redis->arena, user);
}

static bool parse(struct redis *redis, str text, struct err *err)
{
	str all = text, port = STR("6379"), number = STR("0");
	size_t at;

	if (str_starts_with(text, STR("redis://")))
		text = str_skip(text, strlen("redis://"));
	parse_user(redis, &text);
	at = str_find(text, STR("/"));
	if (at != SIZE_MAX) {
		number = str_skip(text, at + 1);
		text.len = at;
	}
	at = str_find(text, STR(":"));
	if (at != SIZE_MAX) {
		port = str_skip(text, at + 1);
		text.len = at;
	}
	redis->host = str_from(str_z(&redis->arena, text));
	if (!text.len || !str_to_u64(port, &redis->port) || !redis->port || redis->port > 65535 ||
	    !str_to_u64(number, &redis->number))
		return err_set(err, ERR_INVALID,
			       "\"" STR_FMT "\" is not a Redis address: HOST:PORT, or "
			       "redis://USER:PASSWORD@HOST:PORT/NUMBER",
			       STR_ARG(all));
	return true;
}

bool redis_open(struct redis *redis, const struct redis_options *options, struct err *err)
{
	*redis = (struct redis){ .options = *options };
	if (!parse(redis, str_from(options->address), err)) {
		arena_free(&redis->arena);
		return false;
	}
	pthread_mutex_init(&redis->lock, NULL);
	pthread_cond_init(&redis->released, NULL);
	return true;
}

void redis_close(struct redis *redis)
{
	if (!redis->port)
		return;
	while (redis->idle_count)
		redisFree(redis->idle[--redis->idle_count]);
	pthread_cond_destroy(&redis->released);
	pthread_mutex_destroy(&redis->lock);
	arena_free(&redis->arena);
	redis->port = 0;
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
		int ms = (int)((deadline_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS);

		if (poll(&fd, 1, ms) > 0)
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

	if (redis->user.len)
		auth[words++] = redis->user;
	auth[words++] = redis->password;
	if (redis->password.len)
		commands[count++] = (struct redis_command){ auth, words };
	number[1] = str_format(&arena, "%ju", (uintmax_t)redis->number);
	if (redis->number)
		commands[count++] = (struct redis_command){ number, 2 };
	if (!run_commands(context, commands, count, deadline_ns, 4096, &arena, replies, err))
		return false;
	for (size_t i = 0; i < count; i++)
		if (replies[i].kind == REDIS_ERROR_REPLY)
			return err_set(err, ERR_IO, "Redis: " STR_FMT, STR_ARG(replies[i].text));
	return true;
}

static redisContext *connect_to(const struct redis *redis, uint64_t deadline_ns, struct err *err)
{
	CLEANUP(redisFreep)
	redisContext *context = redisConnectNonBlock(redis->host.ptr, (int)redis->port);
	int why = 0;
	socklen_t len = sizeof(why);

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
	return authenticate(redis, context, deadline_ns, err) ? TAKE(context) : NULL;
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
