// SPDX-License-Identifier: Apache-2.0
/*
 * redis - pipelines of commands to a Redis server (hiredis), with one deadline per pipeline.
 *
 * Redis is only a cache here, so callers must not wait for it. A pipeline that does not finish
 * within timeout_ms, including the lookup of the host's name, fails; after a failure all pipelines
 * fail immediately for pause_ms. Up to REDIS_CONNECTIONS connections are pooled and shared by all
 * threads; a pipeline that does not get one in time fails as well.
 *
 *     const str words[] = { STR("GET"), key };
 *     struct redis_command command = { words, 2 };
 *     struct redis_reply reply;
 *     if (redis_pipeline(&redis, &command, 1, &arena, &reply, &err) && reply.kind == REDIS_STRING)
 * ...
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "client/redis_address.h"

#include <pthread.h>

enum { REDIS_CONNECTIONS = 8 };

struct redis_options {
	const char *address;           /* see redis_address.h */
	uint64_t timeout_ms, pause_ms; /* of a pipeline; without requests after a failure */
	size_t reply_max;              /* bytes of all replies of a pipeline */
};

struct redis {
	/* private */
	struct redis_options options;
	struct arena arena;
	struct redis_address address; /* .port is 0: closed */
	pthread_mutex_t lock;
	pthread_cond_t released;
	struct redisContext *idle[REDIS_CONNECTIONS];
	unsigned int idle_count, busy_count;
	_Atomic uint64_t away_until_ns;
};

/* Initialise; does not connect. `options` is copied; the parts of `address` are copied too.
 * ERR_INVALID, the only failure: a malformed address. */
bool redis_open(struct redis *redis, const struct redis_options *options,
		struct err *err) MUST_CHECK;

/* No other thread may use it any more. Accepts a struct that is zeroed or closed, or
 * whose redis_open() failed. */
void redis_close(struct redis *redis);

struct redis_command {
	const str *words;
	size_t count;
};

enum redis_kind {
	REDIS_NIL,    /* nil */
	REDIS_STRING, /* a string, or a status such as "OK" */
	REDIS_NUMBER,
	REDIS_LIST,
	REDIS_ERROR_REPLY, /* an error; text is its message */
};

struct redis_reply {
	enum redis_kind kind;
	str text;
	int64_t number;
	const struct redis_reply *items; /* of a list */
	size_t count;
};

/*
 * Send all commands and receive a reply for each, in order; the replies' strings are in the arena.
 * A reply may be REDIS_ERROR_REPLY although the result is true. ERR_BUSY: not sent, because of an
 * earlier failure or because all connections are in use. Any other code (ERR_TIMEOUT: after
 * timeout_ms): failed; the commands may have been executed. `replies` has room for `count` items;
 * its contents are undefined after a failure.
 */
bool redis_pipeline(struct redis *redis, const struct redis_command *commands, size_t count,
		    struct arena *arena, struct redis_reply *replies, struct err *err) MUST_CHECK;
