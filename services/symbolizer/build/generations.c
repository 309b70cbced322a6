// SPDX-License-Identifier: Apache-2.0
#include "symbolizer/build/generations.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/map.h"
#include "client/fetch.h"
#include "server/json/json.h"
#include "server/json/json_read.h"
#include "server/metrics/metrics.h"
#include "symbolizer/symbolizer_limits.h"

#define GENERATION_OUTCOMES(ROW)  \
	ROW(REPORTED, "reported") \
	ROW(FOREIGN, "foreign")   \
	ROW(FAILED, "failed")     \
	ROW(KNOWN, "cached")

enum generation_outcome { GENERATION_OUTCOMES(NAMED_CONSTANT) OUTCOMES };
static const char *const outcome_names[OUTCOMES] = { GENERATION_OUTCOMES(NAMED_TEXT) };

#define GENERATIONS_METRICS(ROW)                                                                 \
	ROW(lookups, METRIC_COUNTER, "decima_symbolizer_generations_total",                      \
	    "Build ids whose generation was looked up, by outcome. reported: a server reported " \
	    "it; foreign: the server does not know generations; failed: the server failed; "     \
	    "cached: it was in the cache.",                                                      \
	    METRIC_LABEL("outcome", outcome_names, OUTCOMES))

METRICS(generations_metrics, GENERATIONS_METRICS);

struct generation_slot {
	hash128 key; /* hash of the build id */
	uint64_t generation, updated_ns;
};

void generations_open(struct generations *generations, const struct server_list *servers,
		      const struct cancel *cancel)
{
	*generations = (struct generations){ .servers = servers, .cancel = cancel };
	pthread_mutex_init(&generations->lock, NULL);
	generations->slots = heap_array(struct generation_slot, GENERATIONS_KEPT);
}

void generations_close(struct generations *generations)
{
	if (!generations->slots)
		return;
	free(TAKE(generations->slots));
	pthread_mutex_destroy(&generations->lock);
}

/* A build id has exactly one slot. A newer one overwrites it; the older one is queried again. */
static struct generation_slot *slot_of(const struct generations *generations, hash128 key)
{
	return &generations->slots[key.low % GENERATIONS_KEPT];
}

/* A query for the generations of some build ids. */
struct generation_query {
	struct arena *arena;
	const struct build_id *const *ids;
	size_t count;
	struct map reported; /* id -> its generation + 1, the highest so far */
	bool has_failed;
};

static str body_of(const struct generation_query *query)
{
	struct buf out = { .arena = query->arena };
	struct json json = { .out = &out };

	json_object(&json);
	json_key(&json, STR("build_ids"));
	json_array(&json);
	for (size_t i = 0; i < query->count; i++)
		json_str(&json, str_from(query->ids[i]->text));
	json_end_array(&json);
	json_end_object(&json);
	return buf_bytes(&out);
}

static void add_reported(struct generation_query *query, const struct json_count *counts,
			 size_t count)
{
	for (size_t i = 0; i < count; i++) {
		void **slot = map_at(&query->reported, counts[i].name);
		uintptr_t reported = (uintptr_t)counts[i].number + 1;

		if (reported > (uintptr_t)*slot)
			*slot = (void *)reported;
	}
}

/* A gateway responded instead of a server, which may be ours. 503 is not in the list because
 * elfutils' debuginfod sends it, too. */
static bool is_gateway(int status)
{
	return status == 429 || status == 502 || status == 504;
}

/* elfutils' debuginfod closes the connection when it gets a body, so the POST fails. It responds to
 * a GET; our service responds 405 to a GET. */
static enum generation_outcome probe_server(const struct fetch *request)
{
	struct fetch fetch = *request;
	int status = 0;
	struct err err = { 0 };

	fetch.header_count = 0;
	if (!fetch_get(&fetch, &status, &err) || status == 405 || is_gateway(status))
		return FAILED;
	return FOREIGN;
}

/* Our service responds {"data":{"generations":...}}. Any other response comes from a server without
 * this endpoint (FOREIGN), or from a gateway (FAILED). */
static enum generation_outcome query_server(const struct generations *generations,
					    struct generation_query *query, const char *server,
					    str body)
{
	static const char *const headers[] = { "Content-Type: application/json" };
	struct buf response = { .arena = query->arena };
	struct fetch fetch = { .headers = headers,
			       .header_count = ARRAY_LEN(headers),
			       .timeout_ms = GENERATION_WAIT_MS,
			       .stall_ms = GENERATION_WAIT_MS,
			       .body_max = GENERATIONS_RESPONSE_MAX,
			       .on_body = fetch_append,
			       .cancel = generations->cancel,
			       .self = &response };
	struct json_count *counts;
	size_t count;
	int status = 0;
	uint64_t began_ns = clock_monotonic_ns();
	struct err err = { 0 };

	fetch.url = str_z(query->arena, str_format(query->arena, "%s/api/v1/generations", server));
	if (!fetch_post(&fetch, body, &status, &err)) {
		bool is_quick = clock_monotonic_ns() - began_ns < NS_PER_SECOND;

		log_debug("generations not reported", "error=\"%s\"", err.msg);
		if (err.code == ERR_LIMIT)
			return FOREIGN;
		return is_quick ? probe_server(&fetch) : FAILED;
	}
	if (status == 200 &&
	    json_read_counts(buf_bytes(&response), "data", "generations", GENERATIONS_QUERY_MAX,
			     query->arena, &counts, &count, &err)) {
		add_reported(query, counts, count);
		return REPORTED;
	}
	return is_gateway(status) ? FAILED : FOREIGN;
}

static void query_servers(struct generations *generations, struct generation_query *query)
{
	str body = body_of(query);

	for (size_t i = 0; i < generations->servers->count; i++) {
		uint64_t now_ns = clock_monotonic_ns();
		enum generation_outcome outcome = FAILED;

		if (now_ns < generations->foreign_until_ns[i])
			outcome = FOREIGN;
		else if (now_ns >= generations->failed_until_ns[i])
			outcome = query_server(generations, query, generations->servers->urls[i],
					       body);
		now_ns = clock_monotonic_ns();
		if (outcome == FOREIGN && now_ns >= generations->foreign_until_ns[i])
			generations->foreign_until_ns[i] = now_ns + FOREIGN_SECONDS * NS_PER_SECOND;
		if (outcome == REPORTED)
			generations->foreign_until_ns[i] = 0;
		if (outcome == FAILED && now_ns >= generations->failed_until_ns[i])
			generations->failed_until_ns[i] = now_ns + SERVER_RETRY_MS * NS_PER_MS;
		query->has_failed |= outcome == FAILED;
		metric_add_at(&lookups, outcome, query->count);
	}
}

/* Store the reported generations in the slots. If a server failed, a higher cached generation
 * stays. */
static void store_reported(struct generations *generations, const struct generation_query *query,
			   uint64_t *ret_generations)
{
	uint64_t now_ns = clock_monotonic_ns();

	pthread_mutex_lock(&generations->lock);
	for (size_t i = 0; i < query->count; i++) {
		str text = str_from(query->ids[i]->text);
		hash128 key = hash_128(text);
		struct generation_slot *slot = slot_of(generations, key);
		bool is_known = hash128_eq(slot->key, key) && slot->updated_ns;
		uintptr_t reported = (uintptr_t)map_get(&query->reported, text);
		uint64_t generation = reported ? reported - 1 : 0;

		/* The server that failed may have a higher one. */
		if (query->has_failed && is_known && slot->generation > generation)
			generation = slot->generation;
		else if (query->has_failed && !is_known && !reported)
			generation = GENERATION_UNKNOWN;
		ret_generations[i] = generation;
		if (generation != GENERATION_UNKNOWN)
			*slot = (struct generation_slot){ key, generation, now_ns };
	}
	pthread_mutex_unlock(&generations->lock);
}

static void query_generations(struct generations *generations, const struct build_id *const *ids,
			      size_t count, uint64_t *ret_generations)
{
	for (size_t i = 0; i < count; i += GENERATIONS_QUERY_MAX) {
		size_t left = count - i;
		AUTO_ARENA arena = { 0 };
		struct generation_query query = { .arena = &arena,
						  .ids = ids + i,
						  .count = left < GENERATIONS_QUERY_MAX
								   ? left
								   : GENERATIONS_QUERY_MAX,
						  .reported = { .arena = &arena } };

		query_servers(generations, &query);
		store_reported(generations, &query, ret_generations + i);
	}
}

void generations_get(struct generations *generations, const struct build_id *const *ids,
		     size_t count, uint64_t *generations_of)
{
	AUTO_ARENA arena = { 0 };
	uint64_t now_ns = clock_monotonic_ns();
	const struct build_id **stale = arena_array(&arena, const struct build_id *, count);
	size_t *indexes = arena_array(&arena, size_t, count);
	size_t stale_count = 0;

	pthread_mutex_lock(&generations->lock);
	for (size_t i = 0; i < count; i++) {
		hash128 key = hash_128(str_from(ids[i]->text));
		const struct generation_slot *slot = slot_of(generations, key);

		if (slot->updated_ns && hash128_eq(slot->key, key) &&
		    now_ns - slot->updated_ns < GENERATION_FRESH_MS * NS_PER_MS) {
			generations_of[i] = slot->generation;
			continue;
		}
		indexes[stale_count] = i;
		stale[stale_count++] = ids[i];
	}
	pthread_mutex_unlock(&generations->lock);
	metric_add_at(&lookups, KNOWN, count - stale_count);

	uint64_t *fresh = arena_array(&arena, uint64_t, stale_count);

	query_generations(generations, stale, stale_count, fresh);
	for (size_t i = 0; i < stale_count; i++)
		generations_of[indexes[i]] = fresh[i];
}

uint64_t generations_refresh(struct generations *generations, const struct build_id *id)
{
	uint64_t generation = GENERATION_UNKNOWN;

	query_generations(generations, &id, 1, &generation);
	return generation;
}

bool generations_has_foreign(const struct generations *generations)
{
	uint64_t now_ns = clock_monotonic_ns();

	for (size_t i = 0; i < generations->servers->count; i++)
		if (now_ns < generations->foreign_until_ns[i])
			return true;
	return false;
}
