// SPDX-License-Identifier: Apache-2.0
/*
 * balance_watch - finds the hosts whose balance stays open ("store/fleet/balance.h"), and names
 * them in the log.
 *
 *     begin(now), host() for each host of the fleet, end(); a minute later again
 *
 * A host is stuck if its samples in transit have not been fewer for `wait_ns`, though it has sent
 * batches meanwhile: then the missing batches do not come. A silent host is not stuck: its batches
 * may be in its spool. A host is unaccounted if its balance has not closed for `wait_ns`.
 *
 * Memory is for hosts with an open balance only. No I/O but the log. One thread.
 */
#pragma once

#include "base/map.h"
#include "store/fleet/fleet.h"

struct balance_watch {
	uint64_t stuck, unaccounted; /* hosts, as of balance_watch_end(); read freely */
	/* private */
	uint64_t wait_ns, now_ns;
	struct arena arenas[2]; /* of the map, and of the map of the round before */
	struct map hosts, before;
	uint64_t stuck_now, unaccounted_now;
	size_t round;
};

/* *watch must not move between begin and end. */
void balance_watch_init(struct balance_watch *watch, uint64_t wait_ns);

/* Frees the memory. Accepts {0}. */
void balance_watch_done(struct balance_watch *watch);

/* `now_ns`: clock_monotonic_ns(). */
void balance_watch_begin(struct balance_watch *watch, uint64_t now_ns);

/* For struct fleet_sink; `self` is the watch. Each host once per round. Never fails. */
bool balance_watch_host(void *self, const struct fleet_host *host, bool *ret_more, struct err *err);

/* Call only if all hosts were read. Otherwise call balance_watch_abort(): nothing has changed. */
void balance_watch_end(struct balance_watch *watch);
void balance_watch_abort(struct balance_watch *watch);
