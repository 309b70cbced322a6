// SPDX-License-Identifier: Apache-2.0
#include "question.h"

#include "base/clock.h"
#include "base/log.h"
#include "chassis/metrics.h"
#include "refusal.h"

#include <inttypes.h>
#include <time.h>

static const char *const ask_names[ASK_COUNT] = {
	[ASK_LABELS] = "labels",
	[ASK_LABEL_VALUES] = "label_values",
	[ASK_PROFILE_TYPES] = "profile_types",
	[ASK_SERIES] = "series",
	[ASK_QUERY] = "query",
	[ASK_QUERY_RANGE] = "query_range",
	[ASK_DIFF] = "diff",
	[ASK_FLEET] = "fleet",
	[ASK_SHARE] = "share",
	[ASK_SHARED] = "shared",
	[ASK_LINK] = "link",
};

static struct metric queries = { .name = "decima_querier_queries_total",
				 .kind = METRIC_COUNTER,
				 .help = "Requests to the API, by what was asked.",
				 .label = "endpoint",
				 .values = ask_names,
				 .value_count = ASK_COUNT };
static struct metric duration = { .name = "decima_querier_query_duration_seconds",
				  .kind = METRIC_HISTOGRAM,
				  .help = "Time of an answer of the API, refusals too.",
				  METRIC_IN_SECONDS };
static const uint64_t memory_bounds[] = { 1 << 20,   4 << 20,           16 << 20,         64 << 20,
					  256 << 20, UINT64_C(1) << 30, UINT64_C(4) << 30 };
static struct metric memory = { .name = "decima_querier_query_memory_bytes",
				.kind = METRIC_HISTOGRAM,
				.help = "Memory that an answer held at its end.",
				.bounds = memory_bounds,
				.bound_count = ARRAY_LEN(memory_bounds) };
static struct metric in_flight = { .name = "decima_querier_queries_in_flight",
				   .kind = METRIC_GAUGE,
				   .help = "Requests to the API that are being answered, those too "
					   "that wait for a connection." };
static struct metric rows = { .name = "decima_querier_rows_read_total",
			      .kind = METRIC_COUNTER,
			      .help = "Stored rows that were looked at." };
static struct metric chunks = { .name = "decima_querier_chunks_read_total",
				.kind = METRIC_COUNTER,
				.help = "Stored rows whose payload was read." };
static struct metric bytes = { .name = "decima_querier_bytes_read_total",
			       .kind = METRIC_COUNTER,
			       .help = "Bytes of those payloads." };
static struct metric unreadable = { .name = "decima_querier_unreadable_rows_total",
				    .kind = METRIC_COUNTER,
				    .help = "Stored rows that are damaged or beyond a limit. Each "
					    "fails the query that met it." };
static struct metric samples = { .name = "decima_querier_samples_read_total",
				 .kind = METRIC_COUNTER,
				 .help = "Samples looked at." };
struct metric *const question_metrics[QUESTION_METRICS] = { &queries,   &duration,   &memory,
							    &in_flight, &rows,       &chunks,
							    &bytes,     &unreadable, &samples };

/*
 * What became of it is looked at first: a question that ran out of time, or was left alone, fails
 * in many ways, none of which says so.
 */
static enum refusal refusal_of(const struct question *question, struct err *err)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (stop_is_asked(question->bounds.stop)) {
		err_set(err, ERR_IO, "the client left before it was answered");
		return REFUSED_CANCELED;
	}
	if (question->bounds.deadline_ns && now_ns >= question->bounds.deadline_ns) {
		err_set(err, ERR_LIMIT,
			"the query took longer than %" PRIu64
			" ms: ask for less time or fewer series, or raise --query-timeout",
			(question->bounds.deadline_ns - question->stats.began_ns) / NS_PER_MS);
		return REFUSED_TIMEOUT;
	}
	if (question->is_unknown || question->is_gone)
		return question->is_gone ? REFUSED_GONE : REFUSED_NOT_FOUND;
	switch (err->code) {
	case ERR_INVALID:
		/* Of what was asked, until something was read; then of what is stored. */
		return question->has_read ? REFUSED_INTERNAL : REFUSED_BAD_DATA;
	case ERR_LIMIT:
		return REFUSED_EXECUTION;
	case ERR_NONE:
	case ERR_NOT_FOUND: /* tables that are not there yet */
	case ERR_IO:
		break;
	}
	return REFUSED_UNAVAILABLE;
}

static void account(const struct question *question, enum ask ask, const char *error)
{
	const struct store_stats *stats = &question->stats.store;
	uint64_t took_ns = clock_monotonic_ns() - question->stats.began_ns;
	str query = http_query(question->req, "query");

	metric_add_at(&queries, ask, 1);
	metric_observe(&duration, took_ns);
	metric_observe(&memory, question->held > question->req->arena->held
					? question->held
					: question->req->arena->held);
	metric_add(&rows, stats->rows);
	metric_add(&chunks, stats->chunks);
	metric_add(&bytes, stats->bytes);
	metric_add(&unreadable, stats->unreadable);
	metric_add(&samples, stats->samples_read);
	log_debug("question answered",
		  "endpoint=%s query=\"" STR_FMT "\" start_ms=%" PRIu64 " end_ms=%" PRIu64
		  " series=%" PRIu64 " rows=%" PRIu64 " chunks=%" PRIu64 " bytes=%" PRIu64
		  " samples_read=%" PRIu64 " samples_matched=%" PRIu64 " took_ms=%" PRIu64
		  " error=\"%s\"",
		  ask_names[ask], (int)(query.len < 256 ? query.len : 256), query.ptr,
		  question->window.start_ms, question->window.end_ms, stats->series, stats->rows,
		  stats->chunks, stats->bytes, stats->samples_read, stats->samples_matched,
		  took_ns / NS_PER_MS, error);
}

static void refuse(const struct question *question, enum ask ask, struct err *err)
{
	enum refusal refusal = refusal_of(question, err);

	refusal_answer(refusal, err->msg, question->req->arena, question->res);
	if (!str_starts_with(question->req->path, STR("/api/"))) {
		question->res->content_type = NULL;
		question->res->body = str_format(question->req->arena, "%s\n", err->msg);
	}
	if (refusal == REFUSED_UNAVAILABLE || refusal == REFUSED_INTERNAL)
		log_warn("question not answered", "endpoint=%s error=\"%s\"", ask_names[ask],
			 err->msg);
}

void question_answer(struct api *api, const struct http_request *req, struct http_response *res,
		     enum ask ask, question_give *give)
{
	struct question question = { .api = api,
				     .req = req,
				     .res = res,
				     .bounds.stop = req->gone,
				     .stats.began_ns = clock_monotonic_ns() };
	uint64_t timeout_ns = 0;
	bool answered = false;
	struct err err = { 0 };

	metric_add(&in_flight, 1);
	if (params_timeout(req, api->timeout_ns, &timeout_ns, &err)) {
		question.bounds.deadline_ns = question.stats.began_ns + timeout_ns;
		answered = params_window(req, "", clock_unix_ns() / NS_PER_MS, &question.window,
					 &err) &&
			   give(&question, &err);
	}
	if (!answered)
		refuse(&question, ask, &err);
	metric_add(&in_flight, (uint64_t)-1);
	account(&question, ask, err.msg);
}

struct store_reader *question_take_reader(struct question *question, struct err *err)
{
	uint64_t began_ns = clock_monotonic_ns();
	struct store_reader *reader = pool_take(&question->api->pool, &question->bounds, err);

	question->has_read = reader;
	question->stats.wait_ns += clock_monotonic_ns() - began_ns;
	return reader;
}

void question_give_reader(struct question *question, struct store_reader *reader)
{
	question->stats.store = reader->stats;
	pool_give(&question->api->pool, reader);
}

bool question_selector(const struct question *question, const char *name,
		       struct selector *ret_selector, struct err *err)
{
	str query = http_query(question->req, name);

	if (!query.ptr)
		return err_set(err, ERR_INVALID,
			       "parameter %s is missing: a selector like "
			       "{comm=\"nginx\"}, or {} for all CPU samples",
			       name);
	return selector_parse(query, question->req->arena, ret_selector, err) ||
	       err_wrap(err, "%s", name);
}

bool question_read(struct question *question, const struct selector *selector,
		   const struct store_sink *sinks, struct err *err)
{
	struct store_query query = { .selector = selector,
				     .start_ms = question->window.start_ms,
				     .end_ms = question->window.end_ms,
				     .needs = question->needs };
	struct store_reader *reader = question_take_reader(question, err);

	if (!reader)
		return false;

	const struct store_team team = { reader, question->api->connections };
	bool read = store_team_samples(&team, &query, sinks, err);

	memcpy(question->gaps, reader->gaps, sizeof(question->gaps));
	question->gap_count = reader->gap_count;
	question_give_reader(question, reader);
	return read;
}

static str moment(uint64_t unix_ms, struct arena *arena)
{
	time_t seconds = (time_t)(unix_ms / 1000);
	struct tm tm = { 0 };

	gmtime_r(&seconds, &tm);
	return str_format(arena, "%04d-%02d-%02dT%02d:%02d:%02dZ", tm.tm_year + 1900, tm.tm_mon + 1,
			  tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

size_t question_warnings(const struct question *question, str ret_warnings[STORE_GAPS_MAX])
{
	struct arena *arena = question->req->arena;

	for (size_t i = 0; i < question->gap_count; i++) {
		str start = moment(question->gaps[i].start_ms, arena);
		str end = moment(question->gaps[i].end_ms, arena);

		ret_warnings[i] = str_format(
			arena,
			"retention: of " STR_FMT " to " STR_FMT
			" only sums of whole hours are left, which say nothing of parts of hours, "
			"nor of labels that samples have and series have not: it is left out",
			STR_ARG(start), STR_ARG(end));
	}
	return question->gap_count;
}

void question_header(struct question *question, str name, str value)
{
	struct http_response *res = question->res;
	struct http_param *headers =
		arena_array(question->req->arena, struct http_param, res->header_count + 1);

	if (res->header_count)
		memcpy(headers, res->headers, res->header_count * sizeof(*headers));
	headers[res->header_count] = (struct http_param){ name, value };
	res->headers = headers;
	res->header_count++;
}

void matches_done(struct matches *matches)
{
	for (size_t i = 0; i < matches->len; i++)
		selector_done(&matches->selectors[i]);
}

bool matches_parse(const struct question *question, struct matches *matches, struct err *err)
{
	struct arena *arena = question->req->arena;

	matches->selectors = arena_array(arena, struct selector, MATCH_PARAMS_MAX);
	matches->queries = arena_array(arena, struct store_query, MATCH_PARAMS_MAX);
	for (size_t i = 0; i < question->req->param_count; i++) {
		const struct http_param *param = &question->req->params[i];
		struct selector *selector = &matches->selectors[matches->len];

		if (!str_eq(param->name, STR("match[]")))
			continue;
		if (matches->len == MATCH_PARAMS_MAX)
			return err_set(err, ERR_INVALID, "more than %d match[] parameters",
				       MATCH_PARAMS_MAX);
		if (!selector_parse(param->value, arena, selector, err))
			return err_wrap(err, "match[]");
		matches->queries[matches->len++] = (struct store_query){
			.selector = selector,
			.start_ms = question->window.start_ms,
			.end_ms = question->window.end_ms,
		};
	}
	return true;
}

void api_refuse(void *self, const struct http_request *req, const char *why,
		struct http_response *res)
{
	(void)self;
	if (!str_starts_with(req->path, STR("/api/"))) {
		res->body = str_format(req->arena, "%s\n", why);
		return;
	}

	refusal_tell(res->status == 404 ? REFUSED_NOT_FOUND : REFUSED_BAD_DATA, why, req->arena,
		     res);
}
