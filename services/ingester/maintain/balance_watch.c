// SPDX-License-Identifier: Apache-2.0
#include "ingester/maintain/balance_watch.h"

#include "base/log.h"
#include "ingester/ingester_limits.h"

#include <inttypes.h>

/* A host with an open balance. */
struct watched {
	uint64_t lowest;       /* samples in transit, since `transit_ns` */
	uint64_t transit_ns;   /* when they became that few */
	uint64_t last_seen_ms; /* of the host, then */
	uint64_t open_ns;      /* since when samples are unaccounted; 0: none are */
	uint64_t logged_ns;    /* 0: never */
};

void balance_watch_init(struct balance_watch *watch, uint64_t wait_ns)
{
	*watch = (struct balance_watch){ .wait_ns = wait_ns };
	watch->before.arena = &watch->arenas[1];
}

void balance_watch_done(struct balance_watch *watch)
{
	arena_free(&watch->arenas[0]);
	arena_free(&watch->arenas[1]);
	*watch = (struct balance_watch){ 0 };
}

void balance_watch_begin(struct balance_watch *watch, uint64_t now_ns)
{
	struct arena *arena = &watch->arenas[watch->round % 2];

	arena_reset(arena);
	watch->hosts = (struct map){ .arena = arena };
	watch->now_ns = now_ns;
	watch->stuck_now = 0;
	watch->unaccounted_now = 0;
}

static struct watched watched_now(const struct balance_watch *watch, const struct fleet_host *host)
{
	const struct watched *old = map_get(&watch->before, host->host);
	const struct balance *sum = &host->balance;
	struct watched now = { .lowest = sum->in_flight,
			       .transit_ns = watch->now_ns,
			       .last_seen_ms = host->last_seen_ms,
			       .open_ns = sum->unaccounted ? watch->now_ns : 0 };

	if (!old)
		return now;
	if (old->lowest && sum->in_flight >= old->lowest) {
		now.lowest = old->lowest;
		now.transit_ns = old->transit_ns;
		now.last_seen_ms = old->last_seen_ms;
	}
	if (sum->unaccounted && old->open_ns)
		now.open_ns = old->open_ns;
	now.logged_ns = old->logged_ns;
	return now;
}

static void log_host(const struct fleet_host *host)
{
	const struct balance *sum = &host->balance;

	log_warn("the balance of a host does not close",
		 "host=\"" STR_FMT "\" in_flight=%" PRIu64 " unaccounted=%" PRId64
		 " missing=%" PRIu64 " conflict=%" PRIu64 " why=\"%s\"",
		 STR_ARG(host->host), sum->in_flight, sum->unaccounted, sum->missing, sum->conflict,
		 sum->why ? sum->why : "missing batches do not arrive");
}

bool balance_watch_host(void *self, const struct fleet_host *host, bool *ret_more, struct err *err)
{
	struct balance_watch *watch = self;
	const struct balance *sum = &host->balance;
	uint64_t now_ns = watch->now_ns;

	(void)ret_more;
	(void)err;
	if (!sum->in_flight && !sum->unaccounted)
		return true;

	struct arena *arena = watch->hosts.arena;
	struct watched *now = arena_new(arena, struct watched);

	*now = watched_now(watch, host);

	bool is_stuck = sum->in_flight && now_ns - now->transit_ns >= watch->wait_ns &&
			host->last_seen_ms > now->last_seen_ms;
	bool is_open = now->open_ns && now_ns - now->open_ns >= watch->wait_ns;

	watch->stuck_now += is_stuck;
	watch->unaccounted_now += is_open;
	if ((is_stuck || is_open) &&
	    (!now->logged_ns || now_ns - now->logged_ns >= BALANCE_LOG_MS * NS_PER_MS)) {
		log_host(host);
		now->logged_ns = now_ns;
	}
	*map_at(&watch->hosts, str_copy(arena, host->host)) = now;
	return true;
}

void balance_watch_end(struct balance_watch *watch)
{
	watch->stuck = watch->stuck_now;
	watch->unaccounted = watch->unaccounted_now;
	watch->before = watch->hosts;
	watch->round++;
}

void balance_watch_abort(struct balance_watch *watch)
{
	watch->hosts = (struct map){ 0 };
}
