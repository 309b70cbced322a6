// SPDX-License-Identifier: Apache-2.0
/*
 * /api/v1/fleet: what became of each host's samples.
 */
#include "fleet_answer.h"
#include "question.h"

static bool give_fleet(struct question *question, struct err *err)
{
	struct fleet_answer answer;
	struct fleet_page page;
	struct fleet_sink sink = { .take = fleet_answer_take, .self = &answer };

	if (!fleet_page_read(question->req, &page, err))
		return false;
	fleet_answer_begin(&answer, &page, question->api->memory_max, question->req->arena);

	struct store_reader *reader = question_take_reader(question, err);

	if (!reader)
		return false;

	bool read = store_reader_fleet(reader, page.after, &sink, err);

	question_give_reader(question, reader);
	if (read)
		fleet_answer_end(&answer, &question->stats, question->res);
	return read;
}

void ask_fleet(void *self, const struct http_request *req, struct http_response *res)
{
	question_answer(self, req, res, ASK_FLEET, give_fleet);
}
