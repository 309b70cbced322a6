// SPDX-License-Identifier: Apache-2.0
#include "serve.h"

#include "answer.h"
#include "base/clock.h"
#include "chassis/metrics.h"
#include "question.h"
#include "verify.h"

#include <inttypes.h>

enum outcome { HELD, FETCHED, ABSENT, MALFORMED, UNAVAILABLE, OUTCOMES };
static const char *const outcome_names[OUTCOMES] = {
	[HELD] = "held",           [FETCHED] = "fetched",         [ABSENT] = "absent",
	[MALFORMED] = "malformed", [UNAVAILABLE] = "unavailable",
};

static struct metric answers = { .name = "decima_debuginfo_answers_total",
				 .kind = METRIC_COUNTER,
				 .help = "Questions of debuginfod clients, by what was answered: a "
					 "held file, one that was fetched for it, none, ...",
				 .label = "outcome",
				 .values = outcome_names,
				 .value_count = OUTCOMES };
static struct metric seconds = { .name = "decima_debuginfo_answer_duration_seconds",
				 .kind = METRIC_HISTOGRAM,
				 .help = "Time until the answer to a debuginfod client began, "
					 "downloads from upstream servers included.",
				 METRIC_IN_SECONDS };
struct metric *const serve_metrics[SERVE_METRICS] = { &answers, &seconds };

/* A question while it is answered. */
struct work {
	struct serve *serve;
	const struct http_request *req;
	struct question question;
	bool fetched, unavailable; /* on the way */
	struct err why;
};

/* From upstream into the store. False: it is not there now. */
static bool fetch(struct work *work, const struct file_key *key, uint64_t newer)
{
	struct question *question = &work->question;
	bool is_source = question->kind == ASK_SOURCE;
	str path = is_source
			   ? str_format(work->req->arena, "source" STR_FMT, STR_ARG(question->rest))
			   : str_from(key->name);
	struct upstream_ask ask = { .key = *key,
				    .path = path,
				    .is_elf = !is_source,
				    .newer = newer,
				    .gone = work->req->gone,
				    .forwarded = http_header(work->req, "X-Forwarded-For") };
	enum upstream_answer answer = upstream_get(work->serve->upstream, &ask, &work->why);

	work->fetched |= answer == UPSTREAM_CAME;
	work->unavailable |= answer == UPSTREAM_UNAVAILABLE;
	return answer == UPSTREAM_CAME;
}

static bool find(struct work *work, const struct file_key *key, struct held_file *ret_file)
{
	return files_find(work->serve->files, key, ret_file) ||
	       (fetch(work, key, 0) && files_find(work->serve->files, key, ret_file));
}

static bool find_debuginfo(struct work *work, struct held_file *ret_file)
{
	struct file_key key = file_key_debuginfo(&work->question.id);
	struct held_file better;

	if (!files_find(work->serve->files, &key, ret_file))
		return find(work, &key, ret_file);
	if (work->serve->upstream->server_count && contents_of(ret_file->fd).rank < DEBUG_DWARF &&
	    fetch(work, &key, ret_file->generation) &&
	    files_find(work->serve->files, &key, &better)) {
		close(ret_file->fd);
		*ret_file = better;
	}
	work->unavailable = false; /* there is something to answer with */
	return true;
}

/* An uploaded file that holds the code is one, too. */
static bool find_executable(struct work *work, bool may_fetch, struct held_file *ret_file)
{
	struct file_key uploaded = file_key_debuginfo(&work->question.id);
	struct file_key own = file_key_executable(&work->question.id);

	if (files_find(work->serve->files, &uploaded, ret_file)) {
		if (contents_of(ret_file->fd).has_code)
			return true;
		close(ret_file->fd);
	}
	return may_fetch ? find(work, &own, ret_file)
			 : files_find(work->serve->files, &own, ret_file);
}

enum section { SECTION_FOUND, SECTION_EMPTY, SECTION_ABSENT };

static enum section find_section(struct work *work, const struct held_file *file,
				 struct http_file *ret_piece)
{
	struct elf_sections sections;
	const struct elf_section *section;
	struct err err;

	if (!elf_sections_read(file->fd, work->req->arena, &sections, &err))
		return SECTION_ABSENT;
	section = elf_sections_find(&sections, work->question.rest);
	if (!section)
		return SECTION_ABSENT;
	if (!elf_section_has_bytes(section))
		return SECTION_EMPTY;
	*ret_piece = (struct http_file){ .fd = file->fd,
					 .offset = section->offset,
					 .len = section->size };
	return SECTION_FOUND;
}

/* From the debug file; what was left out of that, from the executable. A debug file that knows no
 * such section at all is no reason to fetch one. */
static bool answer_section(struct work *work, struct http_file *ret_piece)
{
	struct held_file file;
	bool has_debuginfo = find_debuginfo(work, &file);
	enum section found = SECTION_EMPTY;

	if (has_debuginfo) {
		found = find_section(work, &file, ret_piece);
		if (found == SECTION_FOUND)
			return true;
		close(file.fd);
	}
	if (!find_executable(work, found == SECTION_EMPTY, &file))
		return false;
	if (find_section(work, &file, ret_piece) == SECTION_FOUND)
		return true;
	close(file.fd);
	return false;
}

static bool answer_file(struct work *work, struct http_file *ret_piece, uint64_t *ret_generation)
{
	const struct question *question = &work->question;
	struct file_key source = file_key_source(&question->id, question->rest);
	struct held_file file = { .fd = -1 };
	bool found = false;

	switch (question->kind) {
	case ASK_DEBUGINFO:
		found = find_debuginfo(work, &file);
		break;
	case ASK_EXECUTABLE:
		found = find_executable(work, true, &file);
		break;
	case ASK_SOURCE:
		found = find(work, &source, &file);
		break;
	case ASK_SECTION:
		return answer_section(work, ret_piece);
	case ASK_KIND_COUNT:
		break;
	}
	if (!found)
		return false;
	*ret_piece = (struct http_file){ .fd = file.fd, .len = file.size };
	*ret_generation = file.generation;
	return true;
}

static void respond(struct work *work, const struct http_file *piece, uint64_t generation,
		    struct http_response *res)
{
	struct arena *arena = work->req->arena;
	struct http_file *file = arena_new(arena, struct http_file);
	struct http_param *headers = arena_array(arena, struct http_param, 2);

	*file = *piece;
	headers[0] = (struct http_param){ STR("X-DEBUGINFOD-SIZE"),
					  str_format(arena, "%" PRIu64, piece->len) };
	headers[1] = (struct http_param){ STR("X-Decima-Generation"),
					  str_format(arena, "%" PRIu64, generation) };
	res->content_type = "application/octet-stream";
	res->file = file;
	res->headers = headers;
	res->header_count = generation ? 2 : 1;
}

void serve_buildid(void *service, const struct http_request *req, struct http_response *res)
{
	struct work work = { .serve = service, .req = req };
	struct http_file piece;
	uint64_t generation = 0, began_ns = clock_monotonic_ns();
	enum outcome outcome;
	struct err err = { 0 };

	if (!question_parse(req->below, &work.question, &err)) {
		bool is_absent = err.code == ERR_NOT_FOUND;

		outcome = is_absent ? ABSENT : MALFORMED;
		answer_error(req->arena, res, is_absent ? 404 : 400,
			     is_absent ? "not_found" : "bad_data", err.msg);
	} else if (answer_file(&work, &piece, &generation)) {
		outcome = work.fetched ? FETCHED : HELD;
		respond(&work, &piece, generation, res);
	} else if (work.unavailable) {
		outcome = UNAVAILABLE;
		answer_later(req->arena, res, 503, "unavailable", work.why.msg);
	} else {
		outcome = ABSENT;
		answer_error(req->arena, res, 404, "not_found", "there is no such file here");
	}
	metric_add_at(&answers, outcome, 1);
	metric_observe(&seconds, clock_monotonic_ns() - began_ns);
}
