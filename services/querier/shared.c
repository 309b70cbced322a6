#include "shared.h"

#include "chassis/metrics.h"

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

	reader->stats.bytes += read && *ret_state == SHARE_FOUND ? ret_share->payload.len : 0;
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

bool shared_open(struct shared *shared, struct question *question, str id, struct err *err)
{
	struct arena *arena = question->req->arena;

	if (!shared_find(question, id, true, &shared->share, err))
		return false;
	question->window = (struct window){ shared->share.start_ms, shared->share.end_ms };
	return selector_parse(shared->share.query, arena, &shared->selector, err) &&
	       params_group_by("group_by", shared->share.group_by, &shared->group_by, err);
}

void shared_done(struct shared *shared)
{
	selector_done(&shared->selector);
}

size_t shared_warnings(const struct shared *shared, str warnings[NAME_WARNINGS_MAX])
{
	str rest = shared->share.warnings;
	size_t count = 0;

	while (rest.len && count < NAME_WARNINGS_MAX)
		warnings[count++] = str_cut(&rest, '\n');
	return count;
}
