// SPDX-License-Identifier: Apache-2.0
/*
 * What is put into Redis: by a thread of its own, so that no answer waits for it.
 */
#include "answer_value.h"
#include "answers.h"
#include "answers_round.h"
#include "base/clock.h"
#include "base/hash.h"
#include "chassis/metrics.h"
#include "symbolizer_limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/random.h>

enum { POP_MS = 500 };

enum put { PUT, PUT_FAILED, PUT_DROPPED, PUTS };
static const char *const put_names[PUTS] = {
	[PUT] = "put", [PUT_FAILED] = "failed", [PUT_DROPPED] = "dropped"
};

static struct metric put_commands = {
	.name = "decima_symbolizer_redis_put_total",
	.kind = METRIC_COUNTER,
	.help = "Commands that put something into Redis; dropped: too many "
		"waited.",
	.label = "outcome",
	.values = put_names,
	.value_count = PUTS
};
struct metric *const answers_put_metrics[ANSWERS_PUT_METRICS] = { &put_commands };

/* Commands on their way to Redis. */
struct publication {
	struct arena arena;
	struct redis_command *commands;
	size_t count;
};

static void publication_free(struct answers *answers, struct publication *publication)
{
	answers->queued_bytes -= publication->arena.held;
	arena_free(&publication->arena);
	free(publication);
}

/* The arena is the publication's from now on. */
static void publish(struct answers *answers, struct round *round, struct arena *arena)
{
	struct publication *publication = malloc(sizeof(*publication));

	if (!publication)
		abort(); /* out of memory, as an arena would */
	*publication = (struct publication){ .arena = *arena,
					     .commands = round->commands.items,
					     .count = round->commands.len };
	answers->queued_bytes += arena->held;
	if (answers->queued_bytes <= REDIS_PUBLISH_BYTES &&
	    queue_push(&answers->queue, publication))
		return;
	metric_add_at(&put_commands, PUT_DROPPED, publication->count);
	publication_free(answers, publication);
}

/* Whether it is the first time, today. An address that takes another one's place makes that be put
 * there again, which harms nobody. */
static bool is_news(struct answers *answers, uint64_t base, uint64_t address)
{
	uint64_t mark[2] = { base, address };
	uint64_t hash = hash_64((str){ (const char *)mark, sizeof(mark) }) | 1;

	return atomic_exchange(&answers->seen[hash / 2 % REDIS_SEEN], hash) != hash;
}

static void put_page(struct round *round, const struct build_id *id, uint64_t generation,
		     const struct page *page, const uint64_t *addresses,
		     const struct symbolized_location *locations)
{
	str key = round_page_key(round->arena, id, generation, page->number);
	str *words = arena_array(round->arena, str, 2 + 2 * page->count);
	size_t len = 0;

	words[len++] = STR("HSET");
	words[len++] = key;
	for (size_t i = 0; i < page->count; i++) {
		words[len++] = round_field(round->arena, addresses[page->places[i]]);
		words[len++] = answer_value_write(&locations[page->places[i]], round->arena);
	}
	*vec_push(round->arena, &round->commands) = (struct redis_command){ words, len };
	ROUND_ADD(round, STR("EXPIRE"), key, str_format(round->arena, "%d", REDIS_KEEP_SECONDS));
}

void answers_put(struct answers *answers, const struct build_id *id, uint64_t generation,
		 const uint64_t *addresses, const struct symbolized_location *locations,
		 size_t count)
{
	struct arena arena = { 0 }; /* the publication's in the end */
	struct round round = { .arena = &arena };
	uint64_t day = clock_unix_ns() / NS_PER_SECOND / REDIS_KEEP_SECONDS;
	uint64_t base = hash_64(str_from(id->text)) ^ generation * 31 ^ day << 48;
	uint64_t *new_addresses;
	struct symbolized_location *new_locations;
	struct page page;
	size_t len = 0;

	if (!answers->is_on || !count)
		return;
	new_addresses = arena_array(&arena, uint64_t, count);
	new_locations = arena_array(&arena, struct symbolized_location, count);
	for (size_t i = 0; i < count; i++) {
		bool is_final =
			locations[i].reason == NAME_KNOWN || locations[i].reason == NAME_NO_SYMBOL;

		if (!is_final || !is_news(answers, base, addresses[i]))
			continue;
		new_addresses[len] = addresses[i];
		new_locations[len++] = locations[i];
	}

	struct pages pages = pages_of(new_addresses, len, &arena);

	while (pages_next(&pages, &page))
		put_page(&round, id, generation, &page, new_addresses, new_locations);
	if (len)
		publish(answers, &round, &arena);
	else
		arena_free(&arena);
}

void answers_put_reason(struct answers *answers, const struct build_id *id, uint64_t generation,
			enum name_reason reason)
{
	struct arena arena = { 0 };
	struct round round = { .arena = &arena };

	if (!answers->is_on)
		return;
	ROUND_ADD(&round, STR("SET"), round_key(&arena, "reason", id, generation),
		  str_format(&arena, "%d", (int)reason), STR("EX"),
		  str_format(&arena, "%d", ABSENT_SECONDS));
	publish(answers, &round, &arena);
}

void answers_unlock(struct answers *answers, const struct build_id *id, uint64_t generation)
{
	struct arena arena = { 0 };
	struct round round = { .arena = &arena };

	if (!answers->is_on)
		return;
	ROUND_ADD(
		&round, STR("EVAL"),
		STR("if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end"),
		STR("1"), round_key(&arena, "lock", id, generation),
		str_copy(&arena, str_from(answers->token)));
	publish(answers, &round, &arena);
}

/* In rounds: one of a hundred thousand addresses would take longer than a round may. */
static void put(struct answers *answers, const struct publication *publication)
{
	AUTO_ARENA scratch = { 0 };
	struct redis_reply *replies =
		arena_array(&scratch, struct redis_reply, REDIS_ROUND_COMMANDS);
	struct err err = { 0 };

	for (size_t at = 0, len; at < publication->count; at += len) {
		len = publication->count - at;
		if (len > REDIS_ROUND_COMMANDS)
			len = REDIS_ROUND_COMMANDS;

		bool is_put = redis_round(&answers->redis, publication->commands + at, len,
					  &scratch, replies, &err);

		metric_add_at(&put_commands, is_put ? PUT : PUT_FAILED, len);
	}
}

static void *be_publisher(void *self)
{
	struct answers *answers = self;
	void *item;

	while (!queue_is_closed(&answers->queue)) {
		if (!queue_pop(&answers->queue, &item, POP_MS))
			continue;

		put(answers, item);
		publication_free(answers, item);
	}
	return NULL;
}

bool answers_open(struct answers *answers, const char *address, struct err *err)
{
	struct redis_options options = { .address = address,
					 .timeout_ms = REDIS_MS,
					 .pause_ms = REDIS_AWAY_MS,
					 .reply_max = REDIS_REPLY_MAX };
	uint64_t token;

	*answers = (struct answers){ 0 };
	if (!*address)
		return true;
	if (!redis_open(&answers->redis, &options, err))
		return false;
	if (getrandom(&token, sizeof(token), 0) != (ssize_t)sizeof(token))
		token = clock_unix_ns();
	snprintf(answers->token, sizeof(answers->token), "%016" PRIx64, token);
	answers->seen = calloc(REDIS_SEEN, sizeof(*answers->seen));
	if (!answers->seen)
		abort(); /* out of memory at the start */
	queue_init(&answers->queue, REDIS_PUBLISH_MAX);
	errno = pthread_create(&answers->thread, NULL, be_publisher, answers);
	answers->is_on = !errno;
	if (answers->is_on)
		return true;
	err_errno(err, "start a thread");
	queue_done(&answers->queue);
	redis_close(&answers->redis);
	free((void *)(uintptr_t)TAKE(answers->seen));
	return false;
}

void answers_close(struct answers *answers)
{
	void *item;

	if (!answers->is_on)
		return;
	queue_close(&answers->queue);
	pthread_join(answers->thread, NULL);
	while (queue_pop(&answers->queue, &item, 0))
		publication_free(answers, item);
	queue_done(&answers->queue);
	redis_close(&answers->redis);
	free((void *)(uintptr_t)TAKE(answers->seen));
	answers->is_on = false;
}
