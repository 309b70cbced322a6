// SPDX-License-Identifier: Apache-2.0
#include "answers.h"

#include "answer_value.h"
#include "answers_round.h"
#include "base/clock.h"
#include "base/log.h"
#include "chassis/metrics.h"
#include "symbolizer_limits.h"

enum asked { WHOLE, REASON, MISSED, FAILED, LEFT_ALONE, ASKED };
static const char *const asked_names[ASKED] = { [WHOLE] = "whole",
						[REASON] = "reason",
						[MISSED] = "missed",
						[FAILED] = "failed",
						[LEFT_ALONE] = "left_alone" };
static struct metric gets = {
	.name = "decima_symbolizer_redis_asked_total",
	.kind = METRIC_COUNTER,
	.help = "Build ids that Redis was asked for: all addresses were there, "
		"or the reason why none is, or not; Redis failed, or was left "
		"alone since it had just failed or was busy.",
	.label = "outcome",
	.values = asked_names,
	.value_count = ASKED
};
static struct metric seconds = { .name = "decima_symbolizer_redis_duration_seconds",
				 .kind = METRIC_HISTOGRAM,
				 .help = "Time of one round of questions to Redis.",
				 METRIC_IN_SECONDS };
struct metric *const answers_metrics[ANSWERS_METRICS] = { &gets, &seconds };

static void ask_for(const struct answers *answers, struct round *round,
		    const struct answers_ask *ask)
{
	struct pages pages = pages_of(ask->addresses, ask->count, round->arena);
	struct page page;

	ROUND_ADD(round, STR("SET"), round_key(round->arena, "lock", ask->id, ask->generation),
		  str_from(answers->token), STR("NX"), STR("PX"),
		  str_format(round->arena, "%d", LOCK_MS));
	ROUND_ADD(round, STR("GET"), round_key(round->arena, "reason", ask->id, ask->generation));
	while (pages_next(&pages, &page)) {
		str *words = arena_array(round->arena, str, page.count + 2);

		words[0] = STR("HMGET");
		words[1] = round_page_key(round->arena, ask->id, ask->generation, page.number);
		for (size_t i = 0; i < page.count; i++)
			words[i + 2] = round_field(round->arena, ask->addresses[page.places[i]]);
		*vec_push(round->arena, &round->commands) =
			(struct redis_command){ words, page.count + 2 };
	}
}

static bool read_reason(const struct redis_reply *reply, enum name_reason *ret_reason)
{
	uint64_t number;

	if (reply->kind != REDIS_TEXT || !str_to_u64(reply->text, &number) ||
	    number == NAME_KNOWN || number >= NAME_REASON_COUNT)
		return false;
	*ret_reason = (enum name_reason)number;
	return true;
}

/* The replies of one ask, as many as ask_for() made commands; how many. */
static size_t hear_of(struct answers_ask *ask, const struct redis_reply *replies,
		      struct namer *namer, struct arena *scratch)
{
	struct pages pages = pages_of(ask->addresses, ask->count, scratch);
	struct page page;
	size_t at = 2;
	bool is_whole = true;

	ask->found = ANSWERS_MISSED;
	ask->is_ours = replies[0].kind != REDIS_NOTHING;
	ask->locations = arena_array(namer->arena, struct symbolized_location, ask->count);
	while (pages_next(&pages, &page)) {
		const struct redis_reply *reply = &replies[at++];

		is_whole &= reply->kind == REDIS_LIST && reply->count == page.count;
		for (size_t i = 0; i < page.count && is_whole; i++)
			is_whole = reply->items[i].kind == REDIS_TEXT &&
				   answer_value_read(reply->items[i].text, namer,
						     &ask->locations[page.places[i]]);
	}
	if (read_reason(&replies[1], &ask->reason))
		ask->found = ANSWERS_REASON;
	else if (is_whole)
		ask->found = ANSWERS_WHOLE;
	return at;
}

void answers_get(struct answers *answers, struct answers_ask *asks, size_t count,
		 struct namer *namer)
{
	AUTO_ARENA scratch = { 0 };
	struct round round = { .arena = &scratch };
	size_t asked = 0, addresses = 0, at = 0;
	uint64_t began_ns = clock_monotonic_ns();
	struct err err = { 0 };

	for (size_t i = 0; i < count; i++)
		asks[i].is_ours = true;
	/* What does not fit into a round is not asked for. */
	for (; asked < count && addresses + asks[asked].count <= REDIS_ADDRESSES_MAX; asked++) {
		addresses += asks[asked].count;
		ask_for(answers, &round, &asks[asked]);
	}
	if (!asked)
		return;

	struct redis_reply *replies = arena_array(&scratch, struct redis_reply, round.commands.len);

	if (!redis_round(&answers->redis, round.commands.items, round.commands.len, &scratch,
			 replies, &err)) {
		metric_add_at(&gets, err.code == ERR_LIMIT ? LEFT_ALONE : FAILED, asked);
		if (err.code != ERR_LIMIT)
			log_warn("Redis is left alone for a while", "error=\"%s\"", err.msg);
		return;
	}
	for (size_t i = 0; i < asked; i++) {
		at += hear_of(&asks[i], replies + at, namer, &scratch);
		metric_add_at(&gets,
			      asks[i].found == ANSWERS_WHOLE    ? WHOLE
			      : asks[i].found == ANSWERS_REASON ? REASON
								: MISSED,
			      1);
	}
	metric_observe(&seconds, clock_monotonic_ns() - began_ns);
}
