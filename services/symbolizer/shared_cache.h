// SPDX-License-Identifier: Apache-2.0
/*
 * answers - what replicas share through Redis: answers, reasons, and who is at a file.
 *
 *     decima:names:1:ID:GENERATION:PAGE    hash: address within the 4 KiB -> answer_value; a day
 *     decima:reason:1:ID:GENERATION        why there are no names; seconds
 *     decima:lock:1:ID:GENERATION          the replica that builds the table; seconds
 *
 * It is asked only where the table is not here, which is faster (decision 0066).
 * Each address that is answered by a table is put there once, by a thread of its own. Nothing waits
 * for Redis longer than a round (REDIS_MS), and without one all of this does nothing. Any thread.
 */
#pragma once

#include "base/queue.h"
#include "client/redis.h"
#include "location_builder.h"
#include "object/build_id.h"

struct shared_cache {
	bool is_on; /* read freely */
	/* private */
	struct redis redis;
	struct queue queue; /* of struct publication */
	_Atomic size_t queued_bytes;
	pthread_t thread;
	_Atomic uint64_t *seen;
	char token[17]; /* of our locks */
};

/* Address empty: there is no Redis, which is no error. */
bool shared_cache_open(struct shared_cache *cache, const char *address, struct err *err) MUST_CHECK;
void shared_cache_close(struct shared_cache *cache);

enum shared_cache_result { SHARED_CACHE_MISS, SHARED_CACHE_HIT, SHARED_CACHE_REASON };

/* A build id that Redis is asked for. */
struct shared_cache_lookup {
	const struct build_id *id;
	uint64_t generation;
	const uint64_t *addresses;
	size_t count;
	/* told: */
	enum shared_cache_result result;
	struct symbolized_location *locations; /* of WHOLE: one for each address */
	enum name_reason reason;               /* of REASON */
	bool has_lock; /* it is this replica's turn to build it: then unlock it */
};

/*
 * One round for all of them: whose turn it is, and what is there. A turn that is ours was nobody
 * else's before, so that what he had found is seen. Where Redis does not say, it is ours.
 */
void shared_cache_get(struct shared_cache *cache, struct shared_cache_lookup *lookups, size_t count,
		      struct location_builder *builder);

/* These wait for nothing. */
void shared_cache_put(struct shared_cache *cache, const struct build_id *id, uint64_t generation,
		      const uint64_t *addresses, const struct symbolized_location *locations,
		      size_t count);
void shared_cache_put_reason(struct shared_cache *cache, const struct build_id *id,
			     uint64_t generation, enum name_reason reason);
void shared_cache_unlock(struct shared_cache *cache, const struct build_id *id,
			 uint64_t generation);

enum { SHARED_CACHE_METRICS = 3 };
extern struct metric *const shared_cache_metrics[SHARED_CACHE_METRICS];
