// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/api/resolver.h"

#include "base/clock.h"
#include "server/metrics/metrics.h"
#include "symbolizer/symbolizer_limits.h"
#include "symbolizer/tables/location_builder.h"

/* Poll interval for changes that send no notification: other replicas, generations. */
enum { WAIT_MS = 100 };

/* Where the response to a build id came from. */
#define SOURCES(ROW)                     \
	ROW(SOURCE_WARM, "warm")         \
	ROW(SOURCE_NEGATIVE, "negative") \
	ROW(SOURCE_SHARED, "shared")     \
	ROW(SOURCE_BUILT, "built")       \
	ROW(SOURCE_OLDER, "older")       \
	ROW(SOURCE_LATE, "late")

enum resolve_source { SOURCES(NAMED_CONSTANT) SOURCE_COUNT };

static const char *const source_names[SOURCE_COUNT] = { SOURCES(NAMED_TEXT) };

#define LOCKS(ROW)                            \
	ROW(ACQUIRED, "acquired")             \
	ROW(HELD_ELSEWHERE, "held_elsewhere") \
	ROW(TIMED_OUT, "timed_out")

enum lock_outcome { LOCKS(NAMED_CONSTANT) LOCK_OUTCOMES };
static const char *const lock_outcome_names[LOCK_OUTCOMES] = { LOCKS(NAMED_TEXT) };

#define RESOLVER_METRICS(ROW)                                                                      \
	ROW(seconds, METRIC_HISTOGRAM, "decima_symbolizer_request_duration_seconds",               \
	    "Time of a request, including the wait for debug files.", METRIC_IN_SECONDS)           \
	ROW(addresses, METRIC_COUNTER, "decima_symbolizer_addresses_total",                        \
	    "Addresses in requests, by outcome.",                                                  \
	    METRIC_LABEL("outcome", name_reason_names, NAME_REASON_COUNT))                         \
	ROW(binaries, METRIC_COUNTER, "decima_symbolizer_binaries_total",                          \
	    "Build ids in requests, by source of the response. warm: a table was ready; "          \
	    "negative: a cached failure; shared: Redis; built: a table, after a wait; older: the " \
	    "wait timed out, a table of an older generation; late: the wait timed out, no table.", \
	    METRIC_LABEL("source", source_names, SOURCE_COUNT))                                    \
	ROW(locks, METRIC_COUNTER, "decima_symbolizer_redis_locks_total",                          \
	    "Tables to build, by owner of the build lock in Redis. acquired: this replica; "       \
	    "held_elsewhere: another replica; timed_out: another replica, and the wait for it "    \
	    "timed out.",                                                                          \
	    METRIC_LABEL("outcome", lock_outcome_names, LOCK_OUTCOMES))

METRICS(resolver_metrics, RESOLVER_METRICS);

/* One build id of the request. */
struct resolve_item {
	const struct symbolize_binary *binary;
	struct symbolized_binary *response;
	struct build_id id;
	uint64_t generation;
	bool is_done, has_waited;
	/* is_missing: this replica has no table and no build of it; the shared cache may know. */
	bool is_missing, has_started, has_lock;
	uint64_t wait_until_ns; /* deadline of the wait for the owner of the lock; 0: not waiting */
};

/* A request in progress. */
struct resolution {
	const struct resolver *resolver;
	const struct cancel *client_gone;
	struct arena *arena;
	struct location_builder builder;
	struct resolve_item *items;
	size_t count;
	uint64_t deadline_ns;
};

/* The response is complete. */
static void item_finish(struct resolve_item *item, enum resolve_source source)
{
	metric_add_at(&binaries, source, 1);
	item->is_done = true;
}

static void item_respond_reason(const struct resolution *resolution, struct resolve_item *item,
				enum name_reason reason)
{
	size_t len = item->binary->address_count;
	struct symbolized_location *locations =
		arena_array(resolution->arena, struct symbolized_location, len);

	for (size_t i = 0; i < len; i++)
		locations[i].reason = reason;
	item->response->reason = reason;
	item->response->locations = locations;
	item->response->location_count = len;
	metric_add_at(&addresses, reason, len);
}

static void item_respond(struct resolve_item *item, struct symbolized_location *locations,
			 uint64_t generation)
{
	size_t len = item->binary->address_count;
	uint64_t by_reason[NAME_REASON_COUNT] = { 0 };

	for (size_t i = 0; i < len; i++)
		by_reason[locations[i].reason]++;
	for (enum name_reason reason = 0; reason < NAME_REASON_COUNT; reason++)
		metric_add_at(&addresses, reason, by_reason[reason]);
	item->response->generation = generation;
	item->response->locations = locations;
	item->response->location_count = len;
}

static void item_start_build(const struct resolution *resolution, struct resolve_item *item)
{
	item->is_missing = false;
	item->has_started = true;
	if (tables_begin(resolution->resolver->tables, &item->id))
		(void)worker_pool_submit(resolution->resolver->pool,
					 &item->id); /* queue full: retried at the next check */
}

/* Release the build lock, so that the replicas that wait for it continue. */
static void item_unlock(const struct resolution *resolution, struct resolve_item *item)
{
	if (item->has_lock)
		shared_cache_unlock(resolution->resolver->cache, &item->id, item->generation);
	item->has_lock = false;
}

static void item_respond_shared(struct resolution *resolution, struct resolve_item *item,
				const struct shared_cache_lookup *lookup)
{
	item->is_missing = false;
	if (lookup->result == SHARED_CACHE_HIT)
		item_respond(item, lookup->locations, item->generation);
	else
		item_respond_reason(resolution, item, lookup->reason);
	item_finish(item, SOURCE_SHARED);
	item_unlock(resolution, item);
}

/* A miss in the shared cache. The owner of the lock builds; other replicas wait LOCK_WAIT_MS. */
static void item_wait_or_build(const struct resolution *resolution, struct resolve_item *item)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (item->has_lock) {
		metric_add_at(&locks, ACQUIRED, 1);
		item_start_build(resolution, item);
	} else if (!item->wait_until_ns) {
		metric_add_at(&locks, HELD_ELSEWHERE, 1);
		item->wait_until_ns = now_ns + LOCK_WAIT_MS * NS_PER_MS;
	} else if (now_ns >= item->wait_until_ns) {
		metric_add_at(&locks, TIMED_OUT, 1);
		item_start_build(resolution, item);
	}
}

static void check_shared_cache(struct resolution *resolution)
{
	AUTO_ARENA scratch = { 0 };
	struct shared_cache_lookup *lookups =
		arena_array(&scratch, struct shared_cache_lookup, resolution->count);
	struct resolve_item **items =
		arena_array(&scratch, struct resolve_item *, resolution->count);
	size_t count = 0;

	for (size_t i = 0; i < resolution->count; i++) {
		struct resolve_item *item = &resolution->items[i];

		if (item->is_done || !item->is_missing)
			continue;
		items[count] = item;
		lookups[count++] =
			(struct shared_cache_lookup){ .id = &item->id,
						      .generation = item->generation,
						      .addresses = item->binary->addresses,
						      .count = item->binary->address_count };
	}
	if (count)
		shared_cache_get(resolution->resolver->cache, lookups, count, &resolution->builder);
	for (size_t i = 0; i < count; i++) {
		items[i]->has_lock = lookups[i].has_lock;
		if (lookups[i].result != SHARED_CACHE_MISS)
			item_respond_shared(resolution, items[i], &lookups[i]);
		else
			item_wait_or_build(resolution, items[i]);
	}
}

static void respond_with_table(struct resolution *resolution, struct resolve_item *item,
			       const struct mapped_table *mapped)
{
	size_t len = item->binary->address_count;
	struct symbolized_location *locations =
		arena_array(resolution->arena, struct symbolized_location, len);

	for (size_t i = 0; i < len; i++)
		locations[i] = location_builder_lookup(&resolution->builder, &mapped->symbols,
						       item->binary->addresses[i]);
	item_respond(item, locations, mapped->generation);
	if (!mapped->is_fallback) /* better names may follow: do not share these */
		shared_cache_put(resolution->resolver->cache, &item->id, mapped->generation,
				 item->binary->addresses, locations, len);
}

/* True for reasons that are valid for all replicas. */
static bool is_shared(enum name_reason reason)
{
	return reason == NAME_NO_DEBUG_INFO || reason == NAME_MALFORMED || reason == NAME_TOO_LARGE;
}

/* Check the state of one build id, and finish it if possible. */
static void check_item(struct resolution *resolution, struct resolve_item *item)
{
	struct tables *tables = resolution->resolver->tables;
	struct table_lookup lookup = tables_lookup(tables, &item->id, item->generation);

	item->response->generation = item->generation == GENERATION_UNKNOWN ? 0 : item->generation;
	switch (lookup.state) {
	case TABLE_READY:
		respond_with_table(resolution, item, lookup.mapped);
		item_finish(item, item->has_waited ? SOURCE_BUILT : SOURCE_WARM);
		if (lookup.is_refresh_due)
			item_start_build(resolution, item);
		item_unlock(resolution, item);
		break;
	case TABLE_NEGATIVE:
		item_respond_reason(resolution, item, lookup.reason);
		if (item->has_waited && is_shared(lookup.reason))
			shared_cache_put_reason(resolution->resolver->cache, &item->id,
						item->generation, lookup.reason);
		item_finish(item, SOURCE_NEGATIVE);
		item_unlock(resolution, item);
		break;
	case TABLE_MISSING:
		item->is_missing = resolution->resolver->cache->is_on && !item->has_started &&
				   item->generation != GENERATION_UNKNOWN;
		if (!item->is_missing)
			item_start_build(resolution, item);
		item->has_waited = true;
		break;
	case TABLE_BUILDING:
		item->has_waited = true;
		break;
	}
	tables_release(tables, lookup.mapped);
}

/* The request timed out: names of an older file are better than no names. */
static void time_out(struct resolution *resolution, struct resolve_item *item)
{
	struct tables *tables = resolution->resolver->tables;
	struct table_lookup lookup = tables_lookup(tables, &item->id, item->generation);

	if (lookup.mapped)
		respond_with_table(resolution, item, lookup.mapped);
	else
		item_respond_reason(resolution, item, NAME_PENDING);
	item_finish(item, lookup.mapped ? SOURCE_OLDER : SOURCE_LATE);
	tables_release(tables, lookup.mapped);
}

static void get_generations(struct resolution *resolution)
{
	AUTO_ARENA scratch = { 0 };
	const struct build_id **ids =
		arena_array(&scratch, const struct build_id *, resolution->count);
	uint64_t *generations = arena_array(&scratch, uint64_t, resolution->count);
	size_t len = 0;

	for (size_t i = 0; i < resolution->count; i++)
		if (!resolution->items[i].is_done)
			ids[len++] = &resolution->items[i].id;
	generations_get(resolution->resolver->generations, ids, len, generations);
	len = 0;
	for (size_t i = 0; i < resolution->count; i++)
		if (!resolution->items[i].is_done)
			resolution->items[i].generation = generations[len++];
}

static size_t check_items(struct resolution *resolution)
{
	size_t left = 0;

	for (size_t i = 0; i < resolution->count; i++) {
		struct resolve_item *item = &resolution->items[i];

		if (item->is_done)
			continue;
		check_item(resolution, item);
	}
	if (resolution->resolver->cache->is_on)
		check_shared_cache(resolution);
	for (size_t i = 0; i < resolution->count; i++)
		left += !resolution->items[i].is_done;
	return left;
}

/* Finish the build ids that need no table: malformed ids, and requests for a generation only. */
static void prepare(struct resolution *resolution, const struct symbolize_request *request,
		    struct symbolized_binary *responses)
{
	for (size_t i = 0; i < resolution->count; i++) {
		struct resolve_item *item = &resolution->items[i];
		struct err err;

		*item = (struct resolve_item){ .binary = &request->binaries[i],
					       .response = &responses[i] };
		if (build_id_parse(item->binary->build_id, &item->id, &err))
			continue;
		item->is_done = true;
		item_respond_reason(resolution, item, NAME_BAD_BUILD_ID);
	}
	get_generations(resolution);
	for (size_t i = 0; i < resolution->count; i++) {
		struct resolve_item *item = &resolution->items[i];

		if (item->is_done || item->binary->address_count)
			continue;
		item->is_done = true; /* a request for the generation only */
		item->response->generation =
			item->generation == GENERATION_UNKNOWN ? 0 : item->generation;
	}
}

static bool may_continue(const struct resolution *resolution)
{
	return clock_monotonic_ns() < resolution->deadline_ns &&
	       !cancel_requested(resolution->client_gone) &&
	       !cancel_requested(resolution->resolver->options.cancel);
}

/* Wait for builds and check again, but at most once in POLL_INTERVAL_MS. */
static void wait_for_tables(struct resolution *resolution)
{
	struct tables *tables = resolution->resolver->tables;

	while (may_continue(resolution)) {
		uint64_t changes = tables_changes(tables);
		uint64_t until_ns = clock_monotonic_ns() + WAIT_MS * NS_PER_MS;

		get_generations(resolution); /* a worker may have fetched a newer one */
		if (!check_items(resolution))
			return;
		tables_wait(tables, changes,
			    until_ns < resolution->deadline_ns ? until_ns
							       : resolution->deadline_ns);
		cancel_wait(resolution->resolver->options.cancel, POLL_INTERVAL_MS);
	}
}

struct symbolize_response resolver_resolve(const struct resolver *resolver,
					   const struct symbolize_request *request,
					   const struct cancel *client_gone, struct arena *arena)
{
	uint64_t began_ns = clock_monotonic_ns();
	size_t len = request->binary_count;
	struct symbolized_binary *responses = arena_array(arena, struct symbolized_binary, len);
	struct resolution resolution = { .resolver = resolver,
					 .client_gone = client_gone,
					 .arena = arena,
					 .items = arena_array(arena, struct resolve_item, len),
					 .count = len,
					 .deadline_ns = began_ns + resolver->options.timeout_ns };

	location_builder_init(&resolution.builder, arena);
	prepare(&resolution, request, responses);
	if (check_items(&resolution))
		wait_for_tables(&resolution);
	for (size_t i = 0; i < len; i++)
		if (!resolution.items[i].is_done)
			time_out(&resolution, &resolution.items[i]);
	metric_observe(&seconds, clock_monotonic_ns() - began_ns);
	return (struct symbolize_response){ responses, len };
}
