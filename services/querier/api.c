#include "api.h"

#include "base/clock.h"
#include "base/log.h"
#include "chassis/metrics.h"
#include "fleet_answer.h"
#include "json_answer.h"
#include "params.h"
#include "profile/limits.h"
#include "report.h"

#include <inttypes.h>

/* What is asked for, for the metrics. */
enum question {
	ASK_LABELS,
	ASK_LABEL_VALUES,
	ASK_PROFILE_TYPES,
	ASK_QUERY,
	ASK_FLEET,
	ASK_COUNT,
};
static const char *const question_names[ASK_COUNT] = {
	[ASK_LABELS] = "labels",
	[ASK_LABEL_VALUES] = "label_values",
	[ASK_PROFILE_TYPES] = "profile_types",
	[ASK_QUERY] = "query",
	[ASK_FLEET] = "fleet",
};

/* Why an answer is refused: Prometheus' words, and the status that goes with each. */
static const char *const refusal_names[] = { "bad_data", "execution", "unavailable", "not_found" };
enum refusal { BAD_DATA, EXECUTION, UNAVAILABLE, NOT_FOUND };

static struct metric queries = { .name = "decima_querier_queries_total",
				 .kind = METRIC_COUNTER,
				 .help = "Requests to the API, by what was asked.",
				 .label = "endpoint",
				 .values = question_names,
				 .value_count = ASK_COUNT };
static struct metric errors = { .name = "decima_querier_errors_total",
				.kind = METRIC_COUNTER,
				.help = "Requests to the API that were refused or failed, by why.",
				.label = "type",
				.values = refusal_names,
				.value_count = ARRAY_LEN(refusal_names) };
static struct metric milliseconds = { .name = "decima_querier_milliseconds_total",
				      .kind = METRIC_COUNTER,
				      .help = "Time spent answering the API." };
static struct metric rows = { .name = "decima_querier_rows_read_total",
			      .kind = METRIC_COUNTER,
			      .help = "Stored rows whose payload was read." };
static struct metric bytes = { .name = "decima_querier_bytes_read_total",
			       .kind = METRIC_COUNTER,
			       .help = "Bytes of those payloads." };
static struct metric samples = { .name = "decima_querier_samples_read_total",
				 .kind = METRIC_COUNTER,
				 .help = "Samples looked at." };
struct metric *const api_metrics[API_METRICS] = { &queries, &errors, &milliseconds,
						  &rows,    &bytes,  &samples };

/* A question while it is answered. */
struct work {
	struct api *api;
	const struct http_request *req;
	struct http_response *res;
	struct window window;
	struct store_stats stats;
};

typedef bool question_answer(struct work *work, struct err *err);

static enum refusal refusal_of(enum err_code code)
{
	switch (code) {
	case ERR_INVALID:
		return BAD_DATA;
	case ERR_LIMIT:
		return EXECUTION;
	case ERR_NONE:
	case ERR_NOT_FOUND: /* tables that are not there yet */
	case ERR_IO:
		break;
	}
	return UNAVAILABLE;
}

static void account(const struct work *work, enum question question, uint64_t began_ns,
		    const char *error)
{
	const struct store_stats *stats = &work->stats;
	uint64_t took_ms = (clock_monotonic_ns() - began_ns) / NS_PER_MS;
	str query = http_query(work->req, "query");

	metric_add_at(&queries, question, 1);
	metric_add(&milliseconds, took_ms);
	metric_add(&rows, stats->rows);
	metric_add(&bytes, stats->bytes);
	metric_add(&samples, stats->samples_read);
	log_debug("question answered",
		  "endpoint=%s query=\"" STR_FMT "\" start_ms=%" PRIu64 " end_ms=%" PRIu64
		  " series=%" PRIu64 " rows=%" PRIu64 " bytes=%" PRIu64 " samples_read=%" PRIu64
		  " samples_matched=%" PRIu64 " took_ms=%" PRIu64 " error=\"%s\"",
		  question_names[question], (int)(query.len < 256 ? query.len : 256), query.ptr,
		  work->window.start_ms, work->window.end_ms, stats->series, stats->rows,
		  stats->bytes, stats->samples_read, stats->samples_matched, took_ms, error);
}

/* Every question goes this way: the window, the answer, or the refusal; and the books. */
static void answer(void *self, const struct http_request *req, struct http_response *res,
		   enum question question, question_answer *give)
{
	static const int statuses[] = {
		[BAD_DATA] = 400, [EXECUTION] = 422, [UNAVAILABLE] = 503, [NOT_FOUND] = 404
	};
	struct work work = { .api = self, .req = req, .res = res };
	uint64_t began_ns = clock_monotonic_ns();
	struct err err = { 0 };

	if (!params_window(req, clock_unix_ns() / NS_PER_MS, &work.window, &err) ||
	    !give(&work, &err)) {
		enum refusal refusal = refusal_of(err.code);

		metric_add_at(&errors, refusal, 1);
		res->status = statuses[refusal];
		json_answer_error(req->arena, refusal_names[refusal], err.msg, res);
		if (refusal == UNAVAILABLE)
			log_warn("question not answered", "endpoint=%s error=\"%s\"",
				 question_names[question], err.msg);
	}
	account(&work, question, began_ns, err.msg);
}

/* The match[] parameters: alternatives, each with the window. */
struct matches {
	struct selector *selectors;
	struct store_query *queries;
	size_t len;
};

static void matches_done(struct matches *matches)
{
	for (size_t i = 0; i < matches->len; i++)
		selector_done(&matches->selectors[i]);
}

static bool matches_parse(const struct work *work, struct matches *matches, struct err *err)
{
	struct arena *arena = work->req->arena;

	matches->selectors = arena_array(arena, struct selector, MATCH_PARAMS_MAX);
	matches->queries = arena_array(arena, struct store_query, MATCH_PARAMS_MAX);
	for (size_t i = 0; i < work->req->param_count; i++) {
		const struct http_param *param = &work->req->params[i];
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
			.start_ms = work->window.start_ms,
			.end_ms = work->window.end_ms,
		};
	}
	return true;
}

/* The lists that a reader gives: of names, of one name's values, of types. */
static bool read_list(struct work *work, enum question question, str label,
		      const struct matches *matches, struct err *err)
{
	struct store_reader *reader = pool_take(&work->api->pool, err);
	struct arena *arena = work->req->arena;
	struct window window = work->window;
	str *items = NULL;
	size_t count = 0;
	bool found = false;

	if (!reader)
		return false;
	if (question == ASK_LABELS)
		found = store_reader_label_names(reader, matches->queries, matches->len,
						 window.start_ms, window.end_ms, arena, &items,
						 &count, err);
	else if (question == ASK_LABEL_VALUES)
		found = store_reader_label_values(reader, label, matches->queries, matches->len,
						  window.start_ms, window.end_ms, arena, &items,
						  &count, err);
	else
		found = store_reader_profile_types(reader, window.start_ms, window.end_ms, arena,
						   &items, &count, err);
	pool_give(&work->api->pool, reader);
	if (found)
		json_answer_list(arena, items, count, work->res);
	return found;
}

static bool give_list(struct work *work, enum question question, str label, struct err *err)
{
	CLEANUP(matches_done) struct matches matches = { 0 };

	return matches_parse(work, &matches, err) &&
	       read_list(work, question, label, &matches, err);
}

static bool give_labels(struct work *work, struct err *err)
{
	return give_list(work, ASK_LABELS, (str){ 0 }, err);
}

/* .../label/NAME/values; a name may hold any character, a slash too. */
static bool give_label_values(struct work *work, struct err *err)
{
	str name = work->req->below;

	if (!str_ends_with(name, STR("/values")) || name.len == strlen("/values"))
		return err_set(err, ERR_INVALID, "the path is /api/v1/label/NAME/values");
	name.len -= strlen("/values");
	if (name.len > LABEL_NAME_MAX || !str_is_utf8(name) || memchr(name.ptr, 0, name.len))
		return err_set(err, ERR_INVALID, "a label name is UTF-8 text of at most %d bytes",
			       LABEL_NAME_MAX);
	return give_list(work, ASK_LABEL_VALUES, name, err);
}

static bool give_profile_types(struct work *work, struct err *err)
{
	return give_list(work, ASK_PROFILE_TYPES, (str){ 0 }, err);
}

static bool read_samples(struct work *work, const struct selector *selector, struct merge *merge,
			 struct err *err)
{
	struct store_query query = { .selector = selector,
				     .start_ms = work->window.start_ms,
				     .end_ms = work->window.end_ms };
	struct store_sink sink = { .take = merge_take, .self = merge };
	struct store_reader *reader = pool_take(&work->api->pool, err);

	if (!reader)
		return false;

	bool read = store_reader_samples(reader, &query, &sink, &work->stats, err);

	pool_give(&work->api->pool, reader);
	return read;
}

static void set_file_name(struct work *work, const char *name)
{
	struct http_param *header = arena_new(work->req->arena, struct http_param);

	header->name = STR("Content-Disposition");
	header->value = str_format(work->req->arena, "attachment; filename=\"%s\"", name);
	work->res->headers = header;
	work->res->header_count = 1;
}

static bool give_report(struct work *work, const struct report *report,
			const struct selector *selector, const struct group_by *group_by,
			struct err *err)
{
	struct arena *arena = work->req->arena;
	struct merge merge;

	merge_init(&merge, selector->type, group_by, work->api->memory_max, arena);
	if (!read_samples(work, selector, &merge, err))
		return false;

	struct answer given = { .merge = &merge, .type = selector->type, .window = work->window };

	if (!report_write(report, &given, arena, &work->res->body, err))
		return false;
	work->res->content_type = report->content_type;
	if (report->file_name)
		set_file_name(work, report->file_name);
	return true;
}

static bool give_query(struct work *work, struct err *err)
{
	CLEANUP(selector_done) struct selector selector = { 0 };
	const struct report *report;
	struct group_by group_by;
	str query = http_query(work->req, "query");

	if (!query.ptr)
		return err_set(err, ERR_INVALID,
			       "parameter query is missing: a selector like "
			       "{comm=\"nginx\"}, or {} for all CPU samples");
	if (!selector_parse(query, work->req->arena, &selector, err))
		return err_wrap(err, "query");
	return report_find(http_query(work->req, "report"), &report, err) &&
	       params_group_by(http_query(work->req, "group_by"), &group_by, err) &&
	       give_report(work, report, &selector, &group_by, err);
}

static bool give_fleet(struct work *work, struct err *err)
{
	struct fleet_answer answer;
	struct fleet_page page;
	struct fleet_sink sink = { .take = fleet_answer_take, .self = &answer };

	if (!fleet_page_read(work->req, &page, err))
		return false;
	fleet_answer_begin(&answer, &page, work->api->memory_max, work->req->arena);

	struct store_reader *reader = pool_take(&work->api->pool, err);

	if (!reader)
		return false;

	bool read = store_reader_fleet(reader, page.after, &sink, err);

	pool_give(&work->api->pool, reader);
	if (read)
		fleet_answer_end(&answer, work->res);
	return read;
}

static void serve_labels(void *self, const struct http_request *req, struct http_response *res)
{
	answer(self, req, res, ASK_LABELS, give_labels);
}

static void serve_label_values(void *self, const struct http_request *req,
			       struct http_response *res)
{
	answer(self, req, res, ASK_LABEL_VALUES, give_label_values);
}

static void serve_profile_types(void *self, const struct http_request *req,
				struct http_response *res)
{
	answer(self, req, res, ASK_PROFILE_TYPES, give_profile_types);
}

static void serve_query(void *self, const struct http_request *req, struct http_response *res)
{
	answer(self, req, res, ASK_QUERY, give_query);
}

static void serve_fleet(void *self, const struct http_request *req, struct http_response *res)
{
	answer(self, req, res, ASK_FLEET, give_fleet);
}

/*
 * `go tool pprof URL` asks the profile's neighbour `symbolz` for names of addresses that it found
 * no local binary for, and gives up altogether where that is not there. What this process knows is
 * in the profile already, so it says that it knows no more: names it lists would be lines.
 */
static void serve_symbolz(void *self, const struct http_request *req, struct http_response *res)
{
	(void)self;
	(void)req;
	res->body = STR("num_symbols: 1\n");
}

/* Whoever opens the address in a browser or by curl shall learn how to go on. */
static void serve_root(void *self, const struct http_request *req, struct http_response *res)
{
	(void)self;
	(void)req;
	res->body = STR("Decima: what the machines of this fleet spend their time on.\n\n"
			"/api/v1/query?query={}&report=collapsed   stacks of all CPU samples\n"
			"/api/v1/query?query={}&report=pprof       the same, for go tool pprof\n"
			"/api/v1/query?query={}&report=flamegraph  the same as a tree, in JSON\n"
			"/api/v1/query?query={}&report=table       functions, in JSON\n"
			"/api/v1/labels                            what to ask by\n"
			"/api/v1/label/comm/values                 which programs there are\n"
			"/api/v1/profile_types                     what is measured\n"
			"/api/v1/fleet                             hosts, and what became of their "
			"samples\n"
			"/metrics  /healthy  /ready                how this service is\n\n"
			"docs/api.md tells the rest.\n");
}

const struct http_route api_routes[API_ROUTES] = {
	{ .method = "GET", .path = "/", .handle = serve_root },
	{ .method = "GET", .path = "/api/v1/labels", .handle = serve_labels },
	{ .method = "GET", .path = "/api/v1/label/", .handle = serve_label_values },
	{ .method = "GET", .path = "/api/v1/profile_types", .handle = serve_profile_types },
	{ .method = "GET", .path = "/api/v1/query", .handle = serve_query },
	{ .method = "GET", .path = "/api/v1/fleet", .handle = serve_fleet },
	{ .method = "GET", .path = "/api/v1/symbolz", .handle = serve_symbolz },
	{ .method = "POST",
	  .path = "/api/v1/symbolz",
	  .handle = serve_symbolz,
	  .body_max = SYMBOLZ_BODY_MAX },
};

void api_refuse(void *self, const struct http_request *req, const char *why,
		struct http_response *res)
{
	(void)self;
	if (!str_starts_with(req->path, STR("/api/"))) {
		res->body = str_format(req->arena, "%s\n", why);
		return;
	}

	enum refusal refusal = res->status == 404 ? NOT_FOUND : BAD_DATA;

	metric_add_at(&errors, refusal, 1);
	json_answer_error(req->arena, refusal_names[refusal], why, res);
}

void api_init(struct api *api, const struct api_options *options)
{
	*api = (struct api){ .memory_max = options->memory_max };
	pool_init(&api->pool, &options->store, options->concurrency);
	ready_init(&api->ready, &options->store);
}

void api_done(struct api *api)
{
	pool_done(&api->pool);
	ready_done(&api->ready);
}

bool api_ready(void *self, struct err *why)
{
	return ready_get(&((struct api *)self)->ready, why);
}
