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
#include "name.h"
#include "object/build_id.h"

struct answers {
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
bool answers_open(struct answers *answers, const char *address, struct err *err) MUST_CHECK;
void answers_close(struct answers *answers);

enum answers_found { ANSWERS_MISSED, ANSWERS_WHOLE, ANSWERS_REASON };

/* A build id that Redis is asked for. */
struct answers_ask {
	const struct build_id *id;
	uint64_t generation;
	const uint64_t *addresses;
	size_t count;
	/* told: */
	enum answers_found found;
	struct symbolized_location *locations; /* of WHOLE: one for each address */
	enum name_reason reason;               /* of REASON */
	bool is_ours; /* it is this replica's turn to build it: then unlock it */
};

/*
 * One round for all of them: whose turn it is, and what is there. A turn that is ours was nobody
 * else's before, so that what he had found is seen. Where Redis does not say, it is ours.
 */
void answers_get(struct answers *answers, struct answers_ask *asks, size_t count,
		 struct namer *namer);

/* These wait for nothing. */
void answers_put(struct answers *answers, const struct build_id *id, uint64_t generation,
		 const uint64_t *addresses, const struct symbolized_location *locations,
		 size_t count);
void answers_put_reason(struct answers *answers, const struct build_id *id, uint64_t generation,
			enum name_reason reason);
void answers_unlock(struct answers *answers, const struct build_id *id, uint64_t generation);

enum { ANSWERS_METRICS = 2, ANSWERS_PUT_METRICS = 1 };
extern struct metric *const answers_metrics[ANSWERS_METRICS];
extern struct metric *const answers_put_metrics[ANSWERS_PUT_METRICS];
