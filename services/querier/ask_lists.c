// SPDX-License-Identifier: Apache-2.0
/*
 * /api/v1/labels, label/NAME/values and profile_types.
 */
#include "json_answer.h"
#include "profile/limits.h"
#include "question.h"
#include "store/label_reader.h"

/* The lists that a reader gives: of names, of one name's values, of types. */
static bool read_list(struct question *question, enum ask ask, str label,
		      const struct matches *matches, struct err *err)
{
	struct store_reader *reader = question_take_reader(question, err);
	struct arena *arena = question->req->arena;
	struct window window = question->window;
	str *items = NULL;
	size_t count = 0;
	bool found = false;

	if (!reader)
		return false;
	if (ask == ASK_LABELS)
		found = store_reader_label_names(reader, matches->queries, matches->len,
						 window.start_ms, window.end_ms, arena, &items,
						 &count, err);
	else if (ask == ASK_LABEL_VALUES)
		found = store_reader_label_values(reader, label, matches->queries, matches->len,
						  window.start_ms, window.end_ms, arena, &items,
						  &count, err);
	else
		found = store_reader_profile_types(reader, window.start_ms, window.end_ms, arena,
						   &items, &count, err);
	question_give_reader(question, reader);
	if (found)
		json_answer_list(arena, items, count, &question->stats, question->res);
	return found;
}

static bool give_list(struct question *question, enum ask ask, str label, struct err *err)
{
	CLEANUP(matches_done) struct matches matches = { 0 };

	return matches_parse(question, &matches, err) &&
	       read_list(question, ask, label, &matches, err);
}

static bool give_labels(struct question *question, struct err *err)
{
	return give_list(question, ASK_LABELS, (str){ 0 }, err);
}

/* .../label/NAME/values; a name may hold any character, a slash too. */
static bool give_label_values(struct question *question, struct err *err)
{
	str name = question->req->below;

	if (!str_ends_with(name, STR("/values")) || name.len == strlen("/values"))
		return err_set(err, ERR_INVALID, "the path is /api/v1/label/NAME/values");
	name.len -= strlen("/values");
	if (name.len > LABEL_NAME_MAX || !str_is_utf8(name) || memchr(name.ptr, 0, name.len))
		return err_set(err, ERR_INVALID, "a label name is UTF-8 text of at most %d bytes",
			       LABEL_NAME_MAX);
	return give_list(question, ASK_LABEL_VALUES, name, err);
}

static bool give_profile_types(struct question *question, struct err *err)
{
	return give_list(question, ASK_PROFILE_TYPES, (str){ 0 }, err);
}

void ask_labels(void *self, const struct http_request *req, struct http_response *res)
{
	question_answer(self, req, res, ASK_LABELS, give_labels);
}

void ask_label_values(void *self, const struct http_request *req, struct http_response *res)
{
	question_answer(self, req, res, ASK_LABEL_VALUES, give_label_values);
}

void ask_profile_types(void *self, const struct http_request *req, struct http_response *res)
{
	question_answer(self, req, res, ASK_PROFILE_TYPES, give_profile_types);
}
