// SPDX-License-Identifier: Apache-2.0
#include "generations.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/map.h"
#include "chassis/json.h"
#include "chassis/json_read.h"
#include "chassis/metrics.h"
#include "client/fetch.h"

enum outcome { TOLD, FOREIGN, FAILED, KNOWN, OUTCOMES };
static const char *const outcome_names[OUTCOMES] = {
	[TOLD] = "told", [FOREIGN] = "foreign", [FAILED] = "failed", [KNOWN] = "known"
};

static struct metric asked = {
	.name = "decima_symbolizer_generations_total",
	.kind = METRIC_COUNTER,
	.help = "Build ids whose generation was wanted: told by a server, not "
		"told by one that knows none, not told by one that failed, "
		"known from seconds ago.",
	.label = "outcome",
	.values = outcome_names,
	.value_count = OUTCOMES
};
struct metric *const generations_metrics[GENERATIONS_METRICS] = { &asked };

struct generation_place {
	hash128 key; /* of the build id */
	uint64_t generation, asked_ns;
};

void generations_open(struct generations *generations, const struct servers *servers,
		      const struct stop *stop)
{
	*generations = (struct generations){ .servers = servers, .stop = stop };
	pthread_mutex_init(&generations->lock, NULL);
	generations->places = calloc(GENERATIONS_KEPT, sizeof(*generations->places));
	if (!generations->places)
		abort(); /* out of memory at the start */
}

void generations_close(struct generations *generations)
{
	if (!generations->places)
		return;
	free(TAKE(generations->places));
	pthread_mutex_destroy(&generations->lock);
}

/* A build id's only place; a newer one takes it over, and the older is asked for again. */
static struct generation_place *place_of(const struct generations *generations, hash128 key)
{
	return &generations->places[key.low % GENERATIONS_KEPT];
}

/* Build ids while they are asked for. */
struct ask {
	struct arena *arena;
	const struct build_id *const *ids;
	size_t count;
	struct map told; /* id -> its generation + 1, the highest so far */
	bool has_failed;
};

static str body_of(const struct ask *ask)
{
	struct buf out = { .arena = ask->arena };
	struct json json = { .out = &out };

	json_object(&json);
	json_key(&json, STR("build_ids"));
	json_array(&json);
	for (size_t i = 0; i < ask->count; i++)
		json_str(&json, str_from(ask->ids[i]->text));
	json_end_array(&json);
	json_end_object(&json);
	return buf_bytes(&out);
}

static void note(struct ask *ask, const struct json_count *counts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		void **place = map_at(&ask->told, counts[i].name);
		uintptr_t told = (uintptr_t)counts[i].number + 1;

		if (told > (uintptr_t)*place)
			*place = (void *)told;
	}
}

/* Nobody is behind a gateway, who might be ours. 503 is also what elfutils' debuginfod says. */
static bool is_gateway(int status)
{
	return status == 429 || status == 502 || status == 504;
}

/* elfutils' debuginfod takes no body and hangs up on one; to a GET it says something, and ours that
 * it wants a POST. */
static enum outcome ask_who_it_is(const struct fetch *question)
{
	struct fetch fetch = *question;
	int status = 0;
	struct err err = { 0 };

	fetch.header_count = 0;
	if (!fetch_get(&fetch, &status, &err) || status == 405 || is_gateway(status))
		return FAILED;
	return FOREIGN;
}

/* Ours say {"data":{"generations":...}}; whatever else comes is from somebody who does not know the
 * question, unless it is a gateway that says that nobody is there. */
static enum outcome ask_server(const struct generations *generations, struct ask *ask,
			       const char *server, str body)
{
	static const char *const headers[] = { "Content-Type: application/json" };
	struct buf answer = { .arena = ask->arena };
	struct fetch fetch = { .headers = headers,
			       .header_count = ARRAY_LEN(headers),
			       .timeout_ms = GENERATION_WAIT_MS,
			       .stall_ms = GENERATION_WAIT_MS,
			       .body_max = GENERATIONS_ANSWER_MAX,
			       .take = fetch_keep,
			       .stop = generations->stop,
			       .self = &answer };
	struct json_count *counts;
	size_t count;
	int status = 0;
	uint64_t began_ns = clock_monotonic_ns();
	struct err err = { 0 };

	fetch.url = str_z(ask->arena, str_format(ask->arena, "%s/api/v1/generations", server));
	if (!fetch_post(&fetch, body, &status, &err)) {
		bool is_quick = clock_monotonic_ns() - began_ns < NS_PER_SECOND;

		log_debug("no generations", "error=\"%s\"", err.msg);
		if (err.code == ERR_LIMIT)
			return FOREIGN;
		return is_quick ? ask_who_it_is(&fetch) : FAILED;
	}
	if (status == 200 &&
	    json_read_counts(buf_bytes(&answer), "data", "generations", GENERATIONS_ASKED_MAX,
			     ask->arena, &counts, &count, &err)) {
		note(ask, counts, count);
		return TOLD;
	}
	return is_gateway(status) ? FAILED : FOREIGN;
}

static void ask_servers(struct generations *generations, struct ask *ask)
{
	str body = body_of(ask);

	for (size_t i = 0; i < generations->servers->count; i++) {
		uint64_t now_ns = clock_monotonic_ns();
		enum outcome outcome = FAILED;

		if (now_ns < generations->foreign_until_ns[i])
			outcome = FOREIGN;
		else if (now_ns >= generations->failed_until_ns[i])
			outcome = ask_server(generations, ask, generations->servers->urls[i], body);
		now_ns = clock_monotonic_ns();
		if (outcome == FOREIGN && now_ns >= generations->foreign_until_ns[i])
			generations->foreign_until_ns[i] = now_ns + FOREIGN_SECONDS * NS_PER_SECOND;
		if (outcome == TOLD)
			generations->foreign_until_ns[i] = 0;
		if (outcome == FAILED && now_ns >= generations->failed_until_ns[i])
			generations->failed_until_ns[i] = now_ns + SERVER_RETRY_MS * NS_PER_MS;
		ask->has_failed |= outcome == FAILED;
		metric_add_at(&asked, outcome, ask->count);
	}
}

/* What the servers said into the places; what none said stays as it was. */
static void keep(struct generations *generations, const struct ask *ask, uint64_t *answers)
{
	uint64_t now_ns = clock_monotonic_ns();

	pthread_mutex_lock(&generations->lock);
	for (size_t i = 0; i < ask->count; i++) {
		str text = str_from(ask->ids[i]->text);
		hash128 key = hash_128(text);
		struct generation_place *place = place_of(generations, key);
		bool is_known = hash128_eq(place->key, key) && place->asked_ns;
		uintptr_t told = (uintptr_t)map_get(&ask->told, text);
		uint64_t generation = told ? told - 1 : 0;

		/* One that failed may have had a higher one. */
		if (ask->has_failed && is_known && place->generation > generation)
			generation = place->generation;
		else if (ask->has_failed && !is_known && !told)
			generation = GENERATION_UNKNOWN;
		answers[i] = generation;
		if (generation != GENERATION_UNKNOWN)
			*place = (struct generation_place){ key, generation, now_ns };
	}
	pthread_mutex_unlock(&generations->lock);
}

static void ask_anew(struct generations *generations, const struct build_id *const *ids,
		     size_t count, uint64_t *answers)
{
	for (size_t i = 0; i < count; i += GENERATIONS_ASKED_MAX) {
		size_t left = count - i;
		AUTO_ARENA arena = { 0 };
		struct ask ask = { .arena = &arena,
				   .ids = ids + i,
				   .count = left < GENERATIONS_ASKED_MAX ? left
									 : GENERATIONS_ASKED_MAX,
				   .told = { .arena = &arena } };

		ask_servers(generations, &ask);
		keep(generations, &ask, answers + i);
	}
}

void generations_get(struct generations *generations, const struct build_id *const *ids,
		     size_t count, uint64_t *generations_of)
{
	AUTO_ARENA arena = { 0 };
	uint64_t now_ns = clock_monotonic_ns();
	const struct build_id **stale = arena_array(&arena, const struct build_id *, count);
	size_t *places = arena_array(&arena, size_t, count);
	size_t stale_count = 0;

	pthread_mutex_lock(&generations->lock);
	for (size_t i = 0; i < count; i++) {
		hash128 key = hash_128(str_from(ids[i]->text));
		const struct generation_place *place = place_of(generations, key);

		if (place->asked_ns && hash128_eq(place->key, key) &&
		    now_ns - place->asked_ns < GENERATION_FRESH_MS * NS_PER_MS) {
			generations_of[i] = place->generation;
			continue;
		}
		places[stale_count] = i;
		stale[stale_count++] = ids[i];
	}
	pthread_mutex_unlock(&generations->lock);
	metric_add_at(&asked, KNOWN, count - stale_count);

	uint64_t *answers = arena_array(&arena, uint64_t, stale_count);

	ask_anew(generations, stale, stale_count, answers);
	for (size_t i = 0; i < stale_count; i++)
		generations_of[places[i]] = answers[i];
}

uint64_t generations_ask(struct generations *generations, const struct build_id *id)
{
	uint64_t generation = GENERATION_UNKNOWN;

	ask_anew(generations, &id, 1, &generation);
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
