// SPDX-License-Identifier: Apache-2.0
/*
 * redis - rounds of commands to a Redis, sent at once, with one deadline for all of it.
 *
 * What is kept there can be done without, so nobody waits for it: a round that is not over in time
 * fails, and after a failure the server is left alone for a while: rounds fail at once then. A few
 * connections are kept and shared by any thread; a round that gets none in time fails, too.
 *
 *     const str words[] = { STR("GET"), key };
 *     struct redis_command command = { words, 2 };
 *     struct redis_reply reply;
 *     if (redis_round(&redis, &command, 1, &arena, &reply, &err) && reply.kind == REDIS_TEXT) ...
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <pthread.h>

enum { REDIS_CONNECTIONS = 8 };

struct redis_options {
	const char *address; /* HOST:PORT, or redis://[USER:PASSWORD@]HOST[:PORT][/NUMBER] */
	uint64_t timeout_ms, pause_ms; /* of a round; after a failure */
	size_t reply_max;              /* bytes of all replies of a round */
};

struct redis {
	/* private */
	struct redis_options options;
	struct arena arena;
	str host, user, password;
	uint64_t port, number;
	pthread_mutex_t lock;
	pthread_cond_t given;
	struct redisContext *idle[REDIS_CONNECTIONS];
	unsigned int idle_count, busy_count;
	_Atomic uint64_t away_until_ns;
};

/* Does not connect. ERR_INVALID: no such address. */
bool redis_open(struct redis *redis, const struct redis_options *options,
		struct err *err) MUST_CHECK;
void redis_close(struct redis *redis);

struct redis_command {
	const str *words;
	size_t count;
};

enum redis_kind {
	REDIS_NOTHING, /* nil */
	REDIS_TEXT,    /* also what it says of a success: "OK" */
	REDIS_NUMBER,
	REDIS_LIST,
	REDIS_REFUSED, /* an error, its text */
};

struct redis_reply {
	enum redis_kind kind;
	str text;
	int64_t number;
	const struct redis_reply *items; /* of a list: texts and nothings */
	size_t count;
};

/* False: the round is lost, or was not begun; a reply may be REDIS_REFUSED all the same. ERR_LIMIT:
 * not begun. */
bool redis_round(struct redis *redis, const struct redis_command *commands, size_t count,
		 struct arena *arena, struct redis_reply *replies, struct err *err) MUST_CHECK;
