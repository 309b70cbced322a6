// SPDX-License-Identifier: Apache-2.0
#include "querier/api/api_request.h"

#include "base/clock.h"
#include "base/log.h"
#include "querier/api/error_response.h"
#include "server/metrics/metrics.h"

#include <inttypes.h>
#include <time.h>

#define ENDPOINT_NAME(constant, name, ...) [ENDPOINT_##constant] = #name,
static const char *const endpoint_names[ENDPOINT_COUNT] = { ENDPOINT_ROWS(ENDPOINT_NAME) };

static const uint64_t memory_bounds[] = { 1 << 20,   4 << 20,           16 << 20,         64 << 20,
					  256 << 20, UINT64_C(1) << 30, UINT64_C(4) << 30 };
#define API_REQUEST_METRICS(ROW)                                                                   \
	ROW(queries, METRIC_COUNTER, "decima_querier_queries_total",                               \
	    "Requests to the API, by endpoint.",                                                   \
	    METRIC_LABEL("endpoint", endpoint_names, ENDPOINT_COUNT))                              \
	ROW(duration, METRIC_HISTOGRAM, "decima_querier_query_duration_seconds",                   \
	    "Time from a request to the API to its response, error responses included.",           \
	    METRIC_IN_SECONDS)                                                                     \
	ROW(memory, METRIC_HISTOGRAM, "decima_querier_query_memory_bytes",                         \
	    "Memory that a request used, at its end.", .bounds = memory_bounds,                    \
	    .bound_count = ARRAY_LEN(memory_bounds))                                               \
	ROW(in_flight, METRIC_GAUGE, "decima_querier_queries_in_flight",                           \
	    "Requests to the API in progress, including those that wait for a connection.")        \
	ROW(rows, METRIC_COUNTER, "decima_querier_rows_read_total",                                \
	    "Stored rows that queries examined.")                                                  \
	ROW(chunks, METRIC_COUNTER, "decima_querier_chunks_read_total",                            \
	    "Stored rows whose payload was read.")                                                 \
	ROW(bytes, METRIC_COUNTER, "decima_querier_bytes_read_total", "Bytes of these payloads.")  \
	ROW(unreadable, METRIC_COUNTER, "decima_querier_unreadable_rows_total",                    \
	    "Stored rows that are corrupt or exceed a limit. Each fails the query that reads it.") \
	ROW(samples, METRIC_COUNTER, "decima_querier_samples_read_total",                          \
	    "Samples that queries examined.")

METRICS(api_request_metrics, API_REQUEST_METRICS);

static void account(const struct api_request *request, enum endpoint endpoint, const char *error)
{
	const struct store_stats *stats = &request->stats.store;
	uint64_t took_ns = clock_monotonic_ns() - request->stats.began_ns;
	str query = http_query(request->req, "query");

	metric_add_at(&queries, endpoint, 1);
	metric_observe(&duration, took_ns);
	metric_observe(&memory, request->memory_used > request->req->arena->size
					? request->memory_used
					: request->req->arena->size);
	metric_add(&rows, stats->rows);
	metric_add(&chunks, stats->chunks);
	metric_add(&bytes, stats->bytes);
	metric_add(&unreadable, stats->unreadable);
	metric_add(&samples, stats->samples_read);
	log_debug("request handled",
		  "endpoint=%s query=\"" STR_FMT "\" start_ms=%" PRIu64 " end_ms=%" PRIu64
		  " series=%" PRIu64 " rows=%" PRIu64 " chunks=%" PRIu64 " bytes=%" PRIu64
		  " samples_read=%" PRIu64 " samples_matched=%" PRIu64 " took_ms=%" PRIu64
		  " error=\"%s\"",
		  endpoint_names[endpoint], (int)(query.len < 256 ? query.len : 256), query.ptr,
		  request->window.start_ms, request->window.end_ms, stats->series, stats->rows,
		  stats->chunks, stats->bytes, stats->samples_read, stats->samples_matched,
		  took_ns / NS_PER_MS, error);
}

static void write_error(const struct api_request *request, enum endpoint endpoint, struct err *err)
{
	enum error_type type = error_type_of(err->code);

	/* The step that failed does not know the request's bounds; the user needs to. */
	if (type == ERROR_TIMEOUT)
		err_set(err, ERR_TIMEOUT,
			"the query took longer than %" PRIu64
			" ms: ask for less time or fewer series, or raise --query-timeout",
			(request->bounds.deadline_ns - request->stats.began_ns) / NS_PER_MS);
	else if (type == ERROR_CANCELED)
		err_set(err, ERR_CANCELLED, "the client closed the connection before the response");
	request->res->header_count = 0; /* those of a response that came too late */
	error_response_write(type, err->msg, request->req->arena, request->res);
	if (!str_starts_with(request->req->path, STR("/api/"))) {
		request->res->content_type = NULL;
		request->res->body = str_format(request->req->arena, "%s\n", err->msg);
	}
	if (type == ERROR_UNAVAILABLE || type == ERROR_INTERNAL)
		log_warn("request failed", "endpoint=%s error=\"%s\"", endpoint_names[endpoint],
			 err->msg);
}

void api_request_handle(struct api *api, const struct http_request *req, struct http_response *res,
			enum endpoint endpoint, api_responder *respond)
{
	struct api_request request = { .api = api,
				       .req = req,
				       .res = res,
				       .bounds.cancel = req->gone,
				       .stats.began_ns = clock_monotonic_ns() };
	uint64_t timeout_ns = 0;
	bool succeeded = false;
	struct err err = { 0 };

	metric_add(&in_flight, 1);
	if (params_timeout(req, api->timeout_ns, &timeout_ns, &err)) {
		request.bounds.deadline_ns = request.stats.began_ns + timeout_ns;
		succeeded = params_window(req, "", clock_unix_ns() / NS_PER_MS, &request.window,
					  &err) &&
			    respond(&request, &err) && api_request_may_continue(&request, &err);
		res->deadline_ns = succeeded ? request.bounds.deadline_ns : 0;
	}
	if (!succeeded)
		write_error(&request, endpoint, &err);
	if (request.memory_counted) {
		res->memory_counted = req->arena->size;
		pool_set_memory(&api->pool, request.memory_counted, res->memory_counted);
	}
	metric_add(&in_flight, (uint64_t)-1);
	account(&request, endpoint, err.msg);
}

bool api_request_may_continue(const void *request, struct err *err)
{
	return store_bounds_check(&((const struct api_request *)request)->bounds, err);
}

struct store_reader *api_request_acquire_reader(struct api_request *request, struct err *err)
{
	uint64_t began_ns = clock_monotonic_ns();
	struct store_reader *reader =
		pool_acquire(&request->api->pool, &request->memory_counted, &request->bounds, err);

	request->stats.wait_ns += clock_monotonic_ns() - began_ns;
	return reader;
}

void api_request_release_reader(struct api_request *request, struct store_reader *reader)
{
	request->stats.store = reader->stats;
	pool_release(&request->api->pool, reader);
}

bool api_request_selector(const struct api_request *request, const char *name,
			  struct selector *ret_selector, struct err *err)
{
	str query = http_query(request->req, name);

	if (!query.ptr)
		return err_set(err, ERR_INVALID,
			       "parameter %s is missing: a selector like "
			       "{comm=\"nginx\"}, or {} for all CPU samples",
			       name);
	return selector_parse(query, request->req->arena, ret_selector, err) ||
	       err_wrap(err, "%s", name);
}

bool api_request_read_samples(struct api_request *request, const struct selector *selector,
			      const struct store_sink *sinks, struct err *err)
{
	struct store_query query = { .selector = selector,
				     .start_ms = request->window.start_ms,
				     .end_ms = request->window.end_ms,
				     .projection = request->projection };
	struct store_reader *reader = api_request_acquire_reader(request, err);

	if (!reader)
		return false;

	bool read = store_reader_samples(reader, request->api->connections, &query, sinks, err);

	memcpy(request->gaps, reader->gaps, sizeof(request->gaps));
	request->gap_count = reader->gap_count;
	api_request_release_reader(request, reader);
	return read;
}

static str format_time(uint64_t unix_ms, struct arena *arena)
{
	time_t seconds = (time_t)(unix_ms / 1000);
	struct tm tm = { 0 };

	gmtime_r(&seconds, &tm);
	return str_format(arena, "%04d-%02d-%02dT%02d:%02d:%02dZ", tm.tm_year + 1900, tm.tm_mon + 1,
			  tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

size_t api_request_warnings(const struct api_request *request, str ret_warnings[STORE_GAPS_MAX])
{
	struct arena *arena = request->req->arena;

	for (size_t i = 0; i < request->gap_count; i++) {
		str start = format_time(request->gaps[i].start_ms, arena);
		str end = format_time(request->gaps[i].end_ms, arena);

		ret_warnings[i] =
			str_format(arena,
				   "retention: of " STR_FMT " to " STR_FMT
				   " only sums of whole hours are stored, which have no parts of "
				   "hours and no labels of samples: this time is left out",
				   STR_ARG(start), STR_ARG(end));
	}
	return request->gap_count;
}

void api_request_add_header(struct api_request *request, str name, str value)
{
	struct http_response *res = request->res;
	struct http_param *headers =
		arena_array(request->req->arena, struct http_param, res->header_count + 1);

	if (res->header_count)
		memcpy(headers, res->headers, res->header_count * sizeof(*headers));
	headers[res->header_count] = (struct http_param){ name, value };
	res->headers = headers;
	res->header_count++;
}

void match_params_done(struct match_params *matches)
{
	for (size_t i = 0; i < matches->len; i++)
		selector_done(&matches->selectors[i]);
}

bool match_params_parse(const struct api_request *request, struct match_params *matches,
			struct err *err)
{
	struct arena *arena = request->req->arena;

	matches->selectors = arena_array(arena, struct selector, MATCH_PARAMS_MAX);
	matches->queries = arena_array(arena, struct store_query, MATCH_PARAMS_MAX);
	for (size_t i = 0; i < request->req->param_count; i++) {
		const struct http_param *param = &request->req->params[i];
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
			.start_ms = request->window.start_ms,
			.end_ms = request->window.end_ms,
		};
	}
	return true;
}
