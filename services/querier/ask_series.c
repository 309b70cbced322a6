// SPDX-License-Identifier: Apache-2.0
/*
 * /api/v1/series: the label sets that a selector means.
 */
#include "json_answer.h"
#include "question.h"
#include "store/series_reader.h"

#include <inttypes.h>

/* [{"__name__":type, labels...}, ...] */
static bool put_series(struct question *question, const struct series *series, size_t count,
		       struct err *err)
{
	struct arena *arena = question->req->arena;
	struct json_answer body;

	json_answer_begin(&body, arena);
	json_array(&body.json);
	for (size_t i = 0; i < count; i++) {
		json_answer_metric(&body.json, series[i].type, series[i].labels);
		if (arena->held > question->api->memory_max)
			return err_set(err, ERR_LIMIT,
				       "the answer needs more than %" PRIu64
				       " bytes of memory: ask for fewer series, or raise "
				       "--query-memory-limit",
				       question->api->memory_max);
	}
	json_end_array(&body.json);
	question->res->content_type = "application/json";
	question->res->body = json_answer_end(&body, &question->stats);
	return true;
}

static bool give(struct question *question, struct err *err)
{
	CLEANUP(matches_done) struct matches matches = { 0 };
	const struct store_query all = { .start_ms = question->window.start_ms,
					 .end_ms = question->window.end_ms };
	struct series *series = NULL;
	size_t count = 0;

	if (!matches_parse(question, &matches, err))
		return false;

	struct store_reader *reader = question_take_reader(question, err);

	if (!reader)
		return false;

	bool read = store_reader_series(reader, matches.len ? matches.queries : &all,
					matches.len ? matches.len : 1, question->req->arena,
					&series, &count, err);

	question_give_reader(question, reader);
	return read && put_series(question, series, count, err);
}

void ask_series(void *self, const struct http_request *req, struct http_response *res)
{
	question_answer(self, req, res, ASK_SERIES, give);
}
