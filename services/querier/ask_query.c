#include "question.h"
#include "report.h"
#include "store/limits.h"

/* The merges of all connections into the first. */
static bool add_up(struct merge *merges, size_t count, struct err *err)
{
	for (size_t i = 1; i < count; i++) {
		if (merges[i].set.samples.len && !merge_take(&merges[0], &merges[i].set, err))
			return false;
		arena_free(merges[i].arena);
		memory_held(&merges[i].share, 0);
	}
	return true;
}

static bool read_merged(struct question *question, const struct selector *selector,
			const struct group_by *group_by, struct merge *merges, struct arena *arenas,
			struct memory *memory, struct err *err)
{
	size_t count = question->api->connections;
	struct store_sink sinks[READERS_MAX];
	bool good;

	for (size_t i = 0; i < count; i++) {
		merge_init(&merges[i], selector->type, group_by, question->api->memory_max,
			   i ? &arenas[i] : question->req->arena);
		merge_share(&merges[i], memory);
		sinks[i] = (struct store_sink){ .take = merge_take, .self = &merges[i] };
	}
	good = question_read(question, selector, sinks, err) && add_up(merges, count, err);
	for (size_t i = 1; i < count; i++)
		arena_free(&arenas[i]);
	return good;
}

static bool give_report(struct question *question, const struct report *report,
			const struct selector *selector, const struct group_by *group_by,
			struct err *err)
{
	struct arena *arena = question->req->arena;
	struct arena arenas[READERS_MAX] = { 0 };
	struct merge merges[READERS_MAX];
	struct memory memory = { 0 };

	if (!read_merged(question, selector, group_by, merges, arenas, &memory, err))
		return false;

	struct answer given = { .merge = &merges[0],
				.type = selector->type,
				.window = question->window,
				.stats = &question->stats };

	if (!report_write(report, &given, arena, &question->res->body, err))
		return false;
	question->res->content_type = report->content_type;
	if (report->file_name)
		question_header(
			question, STR("Content-Disposition"),
			str_format(arena, "attachment; filename=\"%s\"", report->file_name));
	question_header(question, STR("Decima-Stats"), stats_text(&question->stats, arena));
	return true;
}

static bool give_query(struct question *question, struct err *err)
{
	CLEANUP(selector_done) struct selector selector = { 0 };
	const struct report *report;
	struct group_by group_by;

	if (!question_selector(question, &selector, err))
		return false;
	return report_find(http_query(question->req, "report"), &report, err) &&
	       params_group_by("group_by", http_query(question->req, "group_by"), &group_by, err) &&
	       give_report(question, report, &selector, &group_by, err);
}

void ask_query(void *self, const struct http_request *req, struct http_response *res)
{
	question_answer(self, req, res, ASK_QUERY, give_query);
}
