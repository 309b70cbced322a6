// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/shared_cache/shared_cache.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/liveness.h"
#include "base/log.h"
#include "base/vec.h"
#include "client/host_lookup.h"
#include "server/metrics/metrics.h"
#include "symbolizer/shared_cache/address_pages_internal.h"
#include "symbolizer/shared_cache/cache_value_internal.h"
#include "symbolizer/symbolizer_limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/random.h>

enum { POP_MS = 500 };

#define LOOKUPS(ROW)          \
	ROW(WHOLE, "hit")     \
	ROW(REASON, "reason") \
	ROW(MISSED, "miss")   \
	ROW(FAILED, "failed") \
	ROW(SUSPENDED, "suspended")

enum lookup_outcome { LOOKUPS(NAMED_CONSTANT) LOOKUP_OUTCOMES };
static const char *const lookup_outcome_names[LOOKUP_OUTCOMES] = { LOOKUPS(NAMED_TEXT) };

#define PUTS(ROW)                 \
	ROW(PUT, "put")           \
	ROW(PUT_FAILED, "failed") \
	ROW(PUT_DROPPED, "dropped")

enum put_outcome { PUTS(NAMED_CONSTANT) PUT_OUTCOMES };
static const char *const put_outcome_names[PUT_OUTCOMES] = { PUTS(NAMED_TEXT) };

#define SHARED_CACHE_METRICS(ROW)                                                                  \
	ROW(lookup_count, METRIC_COUNTER, "decima_symbolizer_redis_lookups_total",                 \
	    "Build ids looked up in Redis, by outcome. hit: all addresses were found; reason: a "  \
	    "failure reason was found; miss: neither was found; failed: Redis failed; suspended: " \
	    "Redis was not queried, since it had just failed or was busy.",                        \
	    METRIC_LABEL("outcome", lookup_outcome_names, LOOKUP_OUTCOMES))                        \
	ROW(seconds, METRIC_HISTOGRAM, "decima_symbolizer_redis_duration_seconds",                 \
	    "Time of one round of lookups in Redis.", METRIC_IN_SECONDS)                           \
	ROW(put_commands, METRIC_COUNTER, "decima_symbolizer_redis_put_total",                     \
	    "Commands that write to Redis, by outcome. dropped: too many commands waited.",        \
	    METRIC_LABEL("outcome", put_outcome_names, PUT_OUTCOMES))                              \
	ROW(lookups_refused, METRIC_COUNTER, "decima_symbolizer_host_lookups_refused_total",       \
	    "Lookups of the host name of Redis that were refused, because too many earlier ones "  \
	    "still wait for the name server.",                                                     \
	    .read = host_lookups_refused)

METRICS(shared_cache_metrics, SHARED_CACHE_METRICS);

/* Commands for one or more rounds to Redis. */
struct command_batch {
	struct arena *arena;
	VEC(struct redis_command) commands;
};

/* The key of a reason or a lock. */
static str entry_key(struct arena *arena, const char *kind, const struct build_id *id,
		     uint64_t generation)
{
	return str_format(arena, "decima:%s:1:%s:%" PRIu64, kind, id->text, generation);
}

/* The key of the names of one page. */
static str page_key(struct arena *arena, const struct build_id *id, uint64_t generation,
		    uint64_t page)
{
	return str_format(arena, "decima:names:1:%s:%" PRIu64 ":%" PRIx64, id->text, generation,
			  page);
}

/* The field of an address within its page. */
static str page_field(struct arena *arena, uint64_t address)
{
	return str_format(arena, "%x", (unsigned int)(address & ((1u << PAGE_BITS) - 1)));
}

/* Append a command; the array of words is copied. */
static void batch_add(struct command_batch *batch, const str *words, size_t count)
{
	str *copy = arena_array(batch->arena, str, count);

	memcpy(copy, words, count * sizeof(*words));
	*vec_push(batch->arena, &batch->commands) = (struct redis_command){ copy, count };
}

#define BATCH_ADD(batch, ...)                            \
	batch_add((batch), (const str[]){ __VA_ARGS__ }, \
		  sizeof((const str[]){ __VA_ARGS__ }) / sizeof(str))

/* Append the commands of one lookup. The lock comes first: see shared_cache_get(). */
static void add_lookup(const struct shared_cache *cache, struct command_batch *batch,
		       const struct shared_cache_lookup *lookup)
{
	struct address_pages pages =
		address_pages_of(lookup->addresses, lookup->count, batch->arena);
	struct address_page page;

	BATCH_ADD(batch, STR("SET"),
		  entry_key(batch->arena, "lock", lookup->id, lookup->generation),
		  str_from(cache->token), STR("NX"), STR("PX"),
		  str_format(batch->arena, "%d", LOCK_MS));
	BATCH_ADD(batch, STR("GET"),
		  entry_key(batch->arena, "reason", lookup->id, lookup->generation));
	while (address_pages_next(&pages, &page)) {
		str *words = arena_array(batch->arena, str, page.count + 2);

		words[0] = STR("HMGET");
		words[1] = page_key(batch->arena, lookup->id, lookup->generation, page.number);
		for (size_t i = 0; i < page.count; i++)
			words[i + 2] = page_field(batch->arena, lookup->addresses[page.indexes[i]]);
		*vec_push(batch->arena, &batch->commands) =
			(struct redis_command){ words, page.count + 2 };
	}
}

static bool read_reason(const struct redis_reply *reply, enum name_reason *ret_reason)
{
	uint64_t number;

	if (reply->kind != REDIS_STRING || !str_to_u64(reply->text, &number) ||
	    number == NAME_KNOWN || number >= NAME_REASON_COUNT)
		return false;
	*ret_reason = (enum name_reason)number;
	return true;
}

/* Read the replies to the commands of add_lookup(). Returns the number of replies read. */
static size_t read_replies(struct shared_cache_lookup *lookup, const struct redis_reply *replies,
			   struct location_builder *builder, struct arena *scratch)
{
	struct address_pages pages = address_pages_of(lookup->addresses, lookup->count, scratch);
	struct address_page page;
	size_t at = 2;
	bool is_whole = true;

	lookup->result = SHARED_CACHE_MISS;
	lookup->has_lock = replies[0].kind != REDIS_NIL;
	lookup->locations = arena_array(builder->arena, struct symbolized_location, lookup->count);
	while (address_pages_next(&pages, &page)) {
		const struct redis_reply *reply = &replies[at++];

		is_whole &= reply->kind == REDIS_LIST && reply->count == page.count;
		for (size_t i = 0; i < page.count && is_whole; i++)
			is_whole = reply->items[i].kind == REDIS_STRING &&
				   cache_value_decode(reply->items[i].text, builder,
						      &lookup->locations[page.indexes[i]]);
	}
	if (read_reason(&replies[1], &lookup->reason))
		lookup->result = SHARED_CACHE_REASON;
	else if (is_whole)
		lookup->result = SHARED_CACHE_HIT;
	return at;
}

void shared_cache_get(struct shared_cache *cache, struct shared_cache_lookup *lookups, size_t count,
		      struct location_builder *builder)
{
	AUTO_ARENA scratch = { 0 };
	struct command_batch batch = { .arena = &scratch };
	size_t fitting = 0, addresses = 0, at = 0;
	uint64_t began_ns = clock_monotonic_ns();
	struct err err = { 0 };

	for (size_t i = 0; i < count; i++)
		lookups[i].has_lock = true;
	/* Lookups that do not fit into the round are skipped. */
	for (; fitting < count && addresses + lookups[fitting].count <= REDIS_ADDRESSES_MAX;
	     fitting++) {
		addresses += lookups[fitting].count;
		add_lookup(cache, &batch, &lookups[fitting]);
	}
	if (!fitting)
		return;

	struct redis_reply *replies = arena_array(&scratch, struct redis_reply, batch.commands.len);

	if (!redis_pipeline(&cache->redis, batch.commands.items, batch.commands.len, &scratch,
			    replies, &err)) {
		metric_add_at(&lookup_count, err.code == ERR_BUSY ? SUSPENDED : FAILED, fitting);
		if (err.code != ERR_BUSY)
			log_warn("Redis failed; pausing its use", "error=\"%s\"", err.msg);
		return;
	}
	for (size_t i = 0; i < fitting; i++) {
		at += read_replies(&lookups[i], replies + at, builder, &scratch);
		metric_add_at(&lookup_count,
			      lookups[i].result == SHARED_CACHE_HIT      ? WHOLE
			      : lookups[i].result == SHARED_CACHE_REASON ? REASON
									 : MISSED,
			      1);
	}
	metric_observe(&seconds, clock_monotonic_ns() - began_ns);
}

/* Commands that wait for the publisher thread. */
struct publication {
	struct arena arena;
	struct redis_command *commands;
	size_t count;
};

static void publication_free(struct shared_cache *cache, struct publication *publication)
{
	cache->queued_bytes -= publication->arena.size;
	arena_free(&publication->arena);
	free(publication);
}

/* Queue the commands. The publication takes ownership of the arena. */
static void publish(struct shared_cache *cache, struct command_batch *batch, struct arena *arena)
{
	struct publication *publication = heap_new(struct publication);

	*publication = (struct publication){ .arena = *arena,
					     .commands = batch->commands.items,
					     .count = batch->commands.len };
	cache->queued_bytes += arena->size;
	if (cache->queued_bytes <= REDIS_PUBLISH_BYTES && queue_push(&cache->queue, publication))
		return;
	metric_add_at(&put_commands, PUT_DROPPED, publication->count);
	publication_free(cache, publication);
}

/* True if the address was not published today, as far as is known. An address that overwrites the
 * slot of another one causes a harmless second publication of that one. */
static bool is_first_put(struct shared_cache *cache, uint64_t base, uint64_t address)
{
	uint64_t mark[2] = { base, address };
	uint64_t hash = hash_64((str){ (const char *)mark, sizeof(mark) }) | 1;

	return atomic_exchange(&cache->seen[hash / 2 % REDIS_SEEN], hash) != hash;
}

static void put_page(struct command_batch *batch, const struct build_id *id, uint64_t generation,
		     const struct address_page *page, const uint64_t *addresses,
		     const struct symbolized_location *locations)
{
	str key = page_key(batch->arena, id, generation, page->number);
	str *words = arena_array(batch->arena, str, 2 + 2 * page->count);
	size_t len = 0;

	words[len++] = STR("HSET");
	words[len++] = key;
	for (size_t i = 0; i < page->count; i++) {
		words[len++] = page_field(batch->arena, addresses[page->indexes[i]]);
		words[len++] = cache_value_encode(&locations[page->indexes[i]], batch->arena);
	}
	*vec_push(batch->arena, &batch->commands) = (struct redis_command){ words, len };
	BATCH_ADD(batch, STR("EXPIRE"), key, str_format(batch->arena, "%d", REDIS_TTL_SECONDS));
}

void shared_cache_put(struct shared_cache *cache, const struct build_id *id, uint64_t generation,
		      const uint64_t *addresses, const struct symbolized_location *locations,
		      size_t count)
{
	struct arena arena = { 0 }; /* owned by the publication at the end */
	struct command_batch batch = { .arena = &arena };
	uint64_t day = clock_unix_ns() / NS_PER_SECOND / REDIS_TTL_SECONDS;
	uint64_t base = hash_64(str_from(id->text)) ^ generation * 31 ^ day << 48;
	uint64_t *new_addresses;
	struct symbolized_location *new_locations;
	struct address_page page;
	size_t len = 0;

	if (!cache->is_on || !count)
		return;
	new_addresses = arena_array(&arena, uint64_t, count);
	new_locations = arena_array(&arena, struct symbolized_location, count);
	for (size_t i = 0; i < count; i++) {
		bool is_final =
			locations[i].reason == NAME_KNOWN || locations[i].reason == NAME_NO_SYMBOL;

		if (!is_final || !is_first_put(cache, base, addresses[i]))
			continue;
		new_addresses[len] = addresses[i];
		new_locations[len++] = locations[i];
	}

	struct address_pages pages = address_pages_of(new_addresses, len, &arena);

	while (address_pages_next(&pages, &page))
		put_page(&batch, id, generation, &page, new_addresses, new_locations);
	if (len)
		publish(cache, &batch, &arena);
	else
		arena_free(&arena);
}

void shared_cache_put_reason(struct shared_cache *cache, const struct build_id *id,
			     uint64_t generation, enum name_reason reason)
{
	struct arena arena = { 0 };
	struct command_batch batch = { .arena = &arena };

	if (!cache->is_on)
		return;
	BATCH_ADD(&batch, STR("SET"), entry_key(&arena, "reason", id, generation),
		  str_format(&arena, "%d", (int)reason), STR("EX"),
		  str_format(&arena, "%d", ABSENT_SECONDS));
	publish(cache, &batch, &arena);
}

void shared_cache_unlock(struct shared_cache *cache, const struct build_id *id, uint64_t generation)
{
	struct arena arena = { 0 };
	struct command_batch batch = { .arena = &arena };

	if (!cache->is_on)
		return;
	BATCH_ADD(
		&batch, STR("EVAL"),
		STR("if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end"),
		STR("1"), entry_key(&arena, "lock", id, generation),
		str_copy(&arena, str_from(cache->token)));
	publish(cache, &batch, &arena);
}

/* Split into rounds: 100,000 addresses at once would exceed the timeout of a round. */
static void send_publication(struct shared_cache *cache, const struct publication *publication)
{
	AUTO_ARENA scratch = { 0 };
	struct redis_reply *replies =
		arena_array(&scratch, struct redis_reply, REDIS_ROUND_COMMANDS);
	struct err err = { 0 };

	for (size_t at = 0, len; at < publication->count; at += len) {
		len = publication->count - at;
		if (len > REDIS_ROUND_COMMANDS)
			len = REDIS_ROUND_COMMANDS;

		bool is_put = redis_pipeline(&cache->redis, publication->commands + at, len,
					     &scratch, replies, &err);

		metric_add_at(&put_commands, is_put ? PUT : PUT_FAILED, len);
	}
}

static void *publisher_main(void *self)
{
	struct shared_cache *cache = self;
	void *item;

	liveness_begin("publisher");
	while (!queue_is_closed(&cache->queue)) {
		if (!queue_pop(&cache->queue, &item, POP_MS))
			continue;

		send_publication(cache, item);
		publication_free(cache, item);
	}
	liveness_end();
	return NULL;
}

bool shared_cache_open(struct shared_cache *cache, const char *address, struct err *err)
{
	struct redis_options options = { .address = address,
					 .timeout_ms = REDIS_MS,
					 .pause_ms = REDIS_PAUSE_MS,
					 .reply_max = REDIS_REPLY_MAX };
	uint64_t token;

	*cache = (struct shared_cache){ 0 };
	if (!*address)
		return true;
	if (!redis_open(&cache->redis, &options, err))
		return false;
	if (getrandom(&token, sizeof(token), 0) != (ssize_t)sizeof(token))
		token = clock_unix_ns();
	snprintf(cache->token, sizeof(cache->token), "%016" PRIx64, token);
	cache->seen = heap_zeroed(REDIS_SEEN, sizeof(*cache->seen));
	queue_init(&cache->queue, REDIS_PUBLISH_MAX);
	errno = pthread_create(&cache->thread, NULL, publisher_main, cache);
	cache->is_on = !errno;
	if (cache->is_on) {
		pthread_setname_np(cache->thread, "publisher");
		return true;
	}
	err_errno(err, "start a thread");
	queue_done(&cache->queue);
	redis_close(&cache->redis);
	free((void *)(uintptr_t)TAKE(cache->seen));
	return false;
}

void shared_cache_close(struct shared_cache *cache)
{
	void *item;

	if (!cache->is_on)
		return;
	queue_close(&cache->queue);
	pthread_join(cache->thread, NULL);
	while (queue_pop(&cache->queue, &item, 0))
		publication_free(cache, item);
	queue_done(&cache->queue);
	redis_close(&cache->redis);
	free((void *)(uintptr_t)TAKE(cache->seen));
	cache->is_on = false;
}
