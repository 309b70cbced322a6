#include "json_answer.h"
#include "name_search.h"
#include "profile/profile_type.h"
#include "question.h"
#include "report.h"
#include "store/limits.h"

/* What an answer is made of, and borrows from until it is written. */
struct found {
	struct merge merges[READERS_MAX]; /* of each connection; then the first is all of them */
	struct arena arenas[READERS_MAX]; /* of each */
	struct memory memory;             /* of all of it */
	struct name_search search;
	struct merge named;
	struct merge *merge; /* the answer: the first, or named */
};

/* The merges of all connections into the first. */
static bool add_up(struct merge *merges, size_t count, struct err *err)
{
	for (size_t i = 1; i < count; i++) {
		if (!merge_join(&merges[0], &merges[i], err))
			return false;
		arena_free(merges[i].arena);
		memory_held(&merges[i].share, 0);
	}
	return true;
}

static bool read_merged(struct question *question, const struct selector *selector,
			const struct group_by *group_by, struct found *found, struct err *err)
{
	bool is_gauge = profile_type_temporality(selector->type) == TEMPORALITY_GAUGE;
	size_t count = question->api->connections;
	struct store_sink sinks[READERS_MAX];

	for (size_t i = 0; i < count; i++) {
		struct merge *merge = &found->merges[i];

		merge_init(merge, selector->type, group_by, question->api->memory_max,
			   &found->arenas[i]);
		merge_share(merge, &found->memory);
		if (is_gauge)
			merge_gauge(merge);
		sinks[i] = (struct store_sink){ .take = merge_take,
						.see = is_gauge ? merge_see : NULL,
						.self = merge };
	}
	found->merge = &found->merges[0];
	return question_read(question, selector, sinks, err) && add_up(found->merges, count, err) &&
	       (!is_gauge || merge_average(found->merge, &question->window, err));
}

/* Without anybody to ask, addresses stay what they are. */
static bool give_names(struct question *question, const struct selector *selector,
		       bool keep_addresses, struct found *found, struct err *err)
{
	const struct merge *merge = &found->merges[0];
	uint64_t began_ns = clock_monotonic_ns();
	bool named;

	if (!question->api->namer.source.ask)
		return true;
	if (!name_search_run(&found->search, &question->api->namer, &found->merges[0],
			     &question->bounds, err))
		return false;

	const struct name_options options = { found->search.names, keep_addresses };

	merge_init(&found->named, selector->type, merge->group_by, merge->memory_max,
		   question->req->arena);
	merge_share(&found->named, &found->memory);
	named = name_merge(&found->named, merge, &options, err);
	found->merge = &found->named;
	question->stats.names = found->search.stats;
	question->stats.names.ns = clock_monotonic_ns() - began_ns;
	return named;
}

static bool write_report(struct question *question, const struct report *report,
			 const struct selector *selector, const struct found *found,
			 struct err *err)
{
	struct arena *arena = question->req->arena;
	const struct answer given = { .merge = found->merge,
				      .type = selector->type,
				      .window = question->window,
				      .stats = &question->stats,
				      .warnings = found->search.warnings,
				      .warning_count = found->search.warning_count };

	if (!report_write(report, &given, arena, &question->res->body, err))
		return false;
	question->res->content_type = report->content_type;
	if (report->file_name)
		question_header(
			question, STR("Content-Disposition"),
			str_format(arena, "attachment; filename=\"%s\"", report->file_name));
	if (given.warning_count)
		question_header(
			question, STR("Decima-Warnings"),
			json_answer_warnings_text(arena, given.warnings, given.warning_count));
	question_header(question, STR("Decima-Stats"), stats_text(&question->stats, arena));
	return true;
}

static bool give_report(struct question *question, const struct report *report,
			const struct selector *selector, const struct group_by *group_by,
			struct err *err)
{
	struct found found = { 0 };
	bool given = read_merged(question, selector, group_by, &found, err) &&
		     give_names(question, selector, report->by_address, &found, err) &&
		     write_report(question, report, selector, &found, err);

	question->held = found.memory.held;
	name_search_done(&found.search);
	for (size_t i = 0; i < question->api->connections; i++)
		arena_free(&found.arenas[i]);
	return given;
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
