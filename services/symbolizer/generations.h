// SPDX-License-Identifier: Apache-2.0
/*
 * generations - which generation of a debug file the servers have, known for a few seconds.
 *
 * A table holds for one generation. Our debuginfo service says which it has
 * (POST /api/v1/generations); another debuginfod server does not know the question, which is
 * remembered of it, and its files are of generation 0. Where several say, the highest counts: one
 * is a time, so what comes later raises it. A server that does not answer leaves what was known.
 * Any thread.
 */
#pragma once

#include "base/stop.h"
#include "object/build_id.h"
#include "servers.h"
#include "tables.h"

struct generations {
	const struct servers *servers;
	/* private */
	const struct stop *stop;
	pthread_mutex_t lock;
	struct generation_slot *slots;
	_Atomic uint64_t foreign_until_ns[SERVERS_MAX], failed_until_ns[SERVERS_MAX];
};

void generations_open(struct generations *generations, const struct servers *servers,
		      const struct stop *stop);
void generations_close(struct generations *generations);

/* Of each id: GENERATION_UNKNOWN where no server said, now or before. Waits GENERATION_WAIT_MS for
 * each server at most. */
void generations_get(struct generations *generations, const struct build_id *const *ids,
		     size_t count, uint64_t *generations_of);

/* Of one, asked for anew. */
uint64_t generations_refresh(struct generations *generations, const struct build_id *id);

/* Whether a server does not tell generations, as far as is known. */
bool generations_has_foreign(const struct generations *generations);

enum { GENERATIONS_METRICS = 1 };
extern struct metric *const generations_metrics[GENERATIONS_METRICS];
