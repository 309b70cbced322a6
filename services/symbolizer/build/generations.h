// SPDX-License-Identifier: Apache-2.0
/*
 * generations - a short-lived cache of the generations of debug files on the servers.
 *
 * A table is valid for one generation of a debug file. Our debuginfo service reports its
 * generations (POST /api/v1/generations). Other debuginfod servers do not have this endpoint; this
 * is cached per server (FOREIGN_SECONDS), and their files have generation 0. If several servers
 * report a generation, the highest counts: a generation is a time, so a later file has a higher
 * one. If a server does not respond, the cached generation stays. Any thread.
 */
#pragma once

#include "base/cancel.h"
#include "client/server_list.h"
#include "elf/build_id.h"
#include "symbolizer/tables/tables.h"

struct generations {
	const struct server_list *servers;
	/* private */
	const struct cancel *cancel;
	pthread_mutex_t lock;
	struct generation_slot *slots;
	_Atomic uint64_t foreign_until_ns[SERVERS_MAX], failed_until_ns[SERVERS_MAX];
};

/* Cannot fail. `servers` and `cancel` are borrowed until generations_close(). */
void generations_open(struct generations *generations, const struct server_list *servers,
		      const struct cancel *cancel);

/* Frees the cache. The caller has joined all threads that use it. Accepts a zeroed struct. */
void generations_close(struct generations *generations);

/* Writes the generation of each id to generations_of; GENERATION_UNKNOWN: a server failed, and no
 * generation was reported or cached. Blocks at most GENERATION_WAIT_MS for each server. */
void generations_get(struct generations *generations, const struct build_id *const *ids,
		     size_t count, uint64_t *generations_of);

/* The generation of one id, queried from the servers without using the cache. */
uint64_t generations_refresh(struct generations *generations, const struct build_id *id);

/* True if a server is known to report no generations. */
bool generations_has_foreign(const struct generations *generations);

extern struct metric *const generations_metrics[];
