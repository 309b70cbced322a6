#include "base/clock.h"
#include "diff.h"
#include "flame_report.h"
#include "found.h"

/* What one side is asked by: its parameters begin with `prefix`. */
struct side {
	const char *prefix;
	struct selector selector;
	struct window window;
	struct found found;
	struct flame flame;
};

static void side_done(struct side *side)
{
	selector_done(&side->selector);
	found_done(&side->found);
}

static bool side_ask(struct side *side, const struct question *question, struct err *err)
{
	const char *name = str_z(question->req->arena,
				 str_format(question->req->arena, "%squery", side->prefix));
	uint64_t now_ms = clock_unix_ns() / NS_PER_MS;

	return question_selector(question, name, &side->selector, err) &&
	       params_window(question->req, side->prefix, now_ms, &side->window, err);
}

/* Reads with a snapshot of its own; what it took is added to what the question took before. */
static bool side_read(struct side *side, struct question *question, const struct group_by *group_by,
		      size_t held_before, struct err *err)
{
	struct arena *arena = question->req->arena;
	uint64_t memory_max = question->api->memory_max;
	struct answer_stats before = question->stats;
	const struct found_options options = { .selector = &side->selector,
					       .group_by = group_by,
					       .memory_max = memory_max > held_before
								     ? memory_max - held_before
								     : 1 };

	question->window = side->window;
	question->stats.names = (struct name_stats){ 0 };
	if (!found_read(&side->found, question, &options, err) ||
	    !flame_build(side->found.merge, arena, &side->flame, err))
		return false;
	stats_add(&question->stats, &before);
	return true;
}

/* Of both sides, each sentence once. */
static size_t warnings_of(const struct found *a, const struct found *b, str *warnings)
{
	size_t count = 0;

	for (size_t i = 0; i < a->search.warning_count; i++)
		warnings[count++] = a->search.warnings[i];
	for (size_t i = 0; i < b->search.warning_count; i++) {
		size_t j = 0;

		while (j < count && !str_eq(warnings[j], b->search.warnings[i]))
			j++;
		if (j == count)
			warnings[count++] = b->search.warnings[i];
	}
	return count;
}

static bool write_diff(struct question *question, const struct side *a, const struct side *b,
		       struct err *err)
{
	struct arena *arena = question->req->arena;
	str warnings[2 * NAME_WARNINGS_MAX];
	struct diff diff;

	if (!diff_build(&a->flame, &b->flame, b->found.merge, arena, &diff, err))
		return false;

	const struct answer answer = { .merge = b->found.merge,
				       .type = b->selector.type,
				       .stats = &question->stats,
				       .warnings = warnings,
				       .warning_count =
					       warnings_of(&a->found, &b->found, warnings) };

	question->res->content_type = "application/json";
	return diff_report_write(&answer, &diff, arena, &question->res->body, err);
}

static bool give_diff(struct question *question, struct err *err)
{
	CLEANUP(side_done) struct side a = { .prefix = "a_" };
	CLEANUP(side_done) struct side b = { .prefix = "b_" };
	struct group_by group_by;

	if (!side_ask(&a, question, err) || !side_ask(&b, question, err) ||
	    !params_group_by("group_by", http_query(question->req, "group_by"), &group_by, err))
		return false;
	if (!str_eq(a.selector.type, b.selector.type))
		return err_set(err, ERR_INVALID,
			       "a_query is of the type " STR_FMT " and b_query of " STR_FMT
			       ": only profiles of one type can be compared",
			       STR_ARG(a.selector.type), STR_ARG(b.selector.type));

	bool given = side_read(&a, question, &group_by, 0, err) &&
		     side_read(&b, question, &group_by, found_held(&a.found), err) &&
		     write_diff(question, &a, &b, err);

	question->held = found_held(&a.found) + b.found.memory.held;
	return given;
}

void ask_diff(void *self, const struct http_request *req, struct http_response *res)
{
	question_answer(self, req, res, ASK_DIFF, give_diff);
}
