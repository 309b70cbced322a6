// SPDX-License-Identifier: Apache-2.0
#include "shared.h"

#include "chassis/metrics.h"
#include "frozen.h"

static const char *const state_names[] = {
	[SHARE_UNKNOWN] = "unknown", [SHARE_EXPIRED] = "expired", [SHARE_FOUND] = "found"
};
static struct metric looked = { .name = "decima_querier_share_lookups_total",
				.kind = METRIC_COUNTER,
				.help = "Shared links that were looked for, by what was found.",
				.label = "found",
				.values = state_names,
				.value_count = ARRAY_LEN(state_names) };
struct metric *const shared_metrics[SHARED_METRICS] = { &looked };

static bool look(struct question *question, str id, bool with_payload, struct share *ret_share,
		 enum share_state *ret_state, struct err *err)
{
	struct store_reader *reader;

	*ret_state = SHARE_UNKNOWN;
	if (!share_id_is_one(id))
		return true;
	reader = question_take_reader(question, err);
	if (!reader)
		return false;

	bool read = store_reader_share(reader, id, with_payload, question->req->arena, ret_share,
				       ret_state, err);

	if (read && *ret_state == SHARE_FOUND)
		for (size_t i = 0; i < ret_share->side_count; i++)
			reader->stats.bytes += ret_share->sides[i].payload.len;
	question_give_reader(question, reader);
	return read;
}

bool shared_find(struct question *question, str id, bool with_payload, struct share *ret_share,
		 struct err *err)
{
	enum share_state state;

	if (!look(question, id, with_payload, ret_share, &state, err))
		return false;
	metric_add_at(&looked, state, 1);
	question->is_unknown = state == SHARE_UNKNOWN;
	question->is_gone = state == SHARE_EXPIRED;
	if (state == SHARE_UNKNOWN)
		return err_set(err, ERR_NOT_FOUND,
			       "there is no such share: the link is incomplete, or expired");
	return state == SHARE_FOUND || err_set(err, ERR_NOT_FOUND, "this share has expired");
}

bool shared_parse(struct shared *shared, struct arena *arena, struct err *err)
{
	const struct share *share = &shared->share;
	const struct selector *selectors = shared->selectors;

	for (size_t i = 0; i < share->side_count; i++)
		if (!selector_parse(share->sides[i].query, arena, &shared->selectors[i], err))
			return false;
	if (share->side_count == 2 && !str_eq(selectors[0].type, selectors[1].type))
		return err_set(err, ERR_INVALID,
			       "a is of the type " STR_FMT " and b of " STR_FMT
			       ": only profiles of one type can be compared",
			       STR_ARG(selectors[0].type), STR_ARG(selectors[1].type));
	return params_group_by("group_by", share->group_by, &shared->group_by, err);
}

bool shared_open(struct shared *shared, struct question *question, str id, struct err *err)
{
	return shared_find(question, id, true, &shared->share, err) &&
	       shared_parse(shared, question->req->arena, err);
}

bool shared_refuse(struct question *question, struct err *err, const char *sentence)
{
	question->has_read = false;
	return err_set(err, ERR_INVALID, "%s", sentence);
}

void shared_look_at(const struct shared *shared, size_t side, struct question *question)
{
	question->window = (struct window){ shared->share.sides[side].start_ms,
					    shared->share.sides[side].end_ms };
}

bool shared_thaw(const struct shared *shared, size_t side, struct merge *merge, struct err *err)
{
	const struct frozen frozen = { shared->share.sides[side].payload,
				       shared->share.sides[side].reasons };

	return frozen_read(&frozen, merge, err);
}

void shared_done(struct shared *shared)
{
	for (size_t i = 0; i < SHARE_SIDES_MAX; i++)
		selector_done(&shared->selectors[i]);
}

size_t shared_warnings(const struct shared *shared, str warnings[SHARED_WARNINGS_MAX])
{
	str rest = shared->share.warnings;
	size_t count = 0;

	while (rest.len && count < SHARED_WARNINGS_MAX)
		warnings[count++] = str_cut(&rest, '\n');
	return count;
}
