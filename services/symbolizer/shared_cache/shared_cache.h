// SPDX-License-Identifier: Apache-2.0
/*
 * shared_cache - what replicas share through Redis: names, failure reasons, and build locks.
 *
 *     decima:names:1:ID:GENERATION:PAGE    hash: address in the 4 KiB page -> cache_value; a day
 *     decima:reason:1:ID:GENERATION        why a build id has no names; seconds
 *     decima:lock:1:ID:GENERATION          the replica that builds the table; seconds
 *
 * Redis is queried only if this replica has no table, because a local table is faster. Each address
 * that a table resolved is published once, by a separate thread. No call waits longer for Redis
 * than one round of commands (REDIS_MS). Without a configured Redis is_on is false: then
 * shared_cache_get() must not be called, and the other functions do nothing. Any thread, except
 * shared_cache_open() and shared_cache_close().
 */
#pragma once

#include "base/queue.h"
#include "client/redis.h"
#include "elf/build_id.h"
#include "symbolizer/tables/location_builder.h"

struct shared_cache {
	bool is_on; /* read freely */
	/* private */
	struct redis redis;
	struct queue queue; /* of struct publication */
	_Atomic size_t queued_bytes;
	pthread_t thread;
	_Atomic uint64_t *seen;
	char token[17]; /* the value of our locks */
};

/*
 * Starts the publisher thread. It does not wait for Redis. An empty address: no Redis is
 * configured, which is no error. ERR_INVALID: malformed address; ERR_IO: the thread cannot be
 * started. After a failure is_on is false.
 */
bool shared_cache_open(struct shared_cache *cache, const char *address, struct err *err) MUST_CHECK;

/* Joins the publisher thread; publications that still wait are dropped. Accepts a zeroed struct and
 * one whose shared_cache_open() failed. */
void shared_cache_close(struct shared_cache *cache);

enum shared_cache_result { SHARED_CACHE_MISS, SHARED_CACHE_HIT, SHARED_CACHE_REASON };

/* The lookup of one build id. */
struct shared_cache_lookup {
	const struct build_id *id;
	uint64_t generation;
	const uint64_t *addresses;
	size_t count;
	/* set by shared_cache_get(): */
	enum shared_cache_result result;
	struct symbolized_location *locations; /* of a HIT: one for each address */
	enum name_reason reason;               /* of a REASON */
	/* This replica may build the table, and must then call shared_cache_unlock(). */
	bool has_lock;
};

/*
 * Performs all lookups in one round of commands. Cannot fail. For each build id, acquire the build
 * lock, then read what is cached: in this order a new owner of the lock sees the results of the
 * previous owner. If Redis does not respond, each lookup is a MISS with has_lock set. The locations
 * are in the builder's arena.
 */
void shared_cache_get(struct shared_cache *cache, struct shared_cache_lookup *lookups, size_t count,
		      struct location_builder *builder);

/* The following functions copy their arguments, queue commands for the publisher thread, and do not
 * wait for Redis. If the queue is full, the commands are dropped and counted. */
void shared_cache_put(struct shared_cache *cache, const struct build_id *id, uint64_t generation,
		      const uint64_t *addresses, const struct symbolized_location *locations,
		      size_t count);
void shared_cache_put_reason(struct shared_cache *cache, const struct build_id *id,
			     uint64_t generation, enum name_reason reason);
void shared_cache_unlock(struct shared_cache *cache, const struct build_id *id,
			 uint64_t generation);

extern struct metric *const shared_cache_metrics[];
