// SPDX-License-Identifier: Apache-2.0
/*
 * /api/v1/share and /s/ID: stores a query, or its frozen result, as a row and redirects to it.
 */
#include "querier/api/handlers.h"
#include "querier/api/query_result_internal.h"
#include "querier/api/share_request_internal.h"
#include "querier/api/shared_query.h"
#include "querier/report/frozen.h"
#include "querier/report/json_response.h"
#include "server/metrics/metrics.h"

#include <pthread.h>
#include <time.h>

enum { KIND_LIVE, KIND_FROZEN, KIND_COUNT };
static const char *const kind_names[KIND_COUNT] = { "live", "frozen" };
enum { REJECTED_TOO_BIG, REJECTED_FULL, REASON_COUNT };
static const char *const reason_names[REASON_COUNT] = { "too_big", "full" };
#define SHARE_METRICS(ROW)                                                                         \
	ROW(made, METRIC_COUNTER, "decima_querier_shares_total",                                   \
	    "Shares that were created, by kind: frozen shares have their result stored.",          \
	    METRIC_LABEL("kind", kind_names, KIND_COUNT))                                          \
	ROW(rejected, METRIC_COUNTER, "decima_querier_share_rejections_total",                     \
	    "Shares that were rejected, by reason. too_big: one profile exceeds "                  \
	    "--share-max-bytes; full: all shares exceed --share-total-max-bytes, or their number " \
	    "its limit.",                                                                          \
	    METRIC_LABEL("reason", reason_names, REASON_COUNT))

METRICS(share_metrics, SHARE_METRICS);

static void count_limit(size_t reason, const struct err *err)
{
	if (err->code == ERR_LIMIT)
		metric_add_at(&rejected, reason, 1);
}

/* Append the warnings as lines, each once. */
static void add_warnings(struct buf *lines, const struct query_result *result)
{
	for (size_t i = 0; i < result->warning_count; i++) {
		str warning = result->warnings[i], known = buf_bytes(lines);

		if (str_find(known, warning) < known.len)
			continue;
		if (lines->len)
			buf_u8(lines, '\n');
		buf_str(lines, warning);
	}
}

/* Read the result now and encode it with functions, addresses and lines, for all reports. */
static bool freeze_side(struct api_request *request, struct shared_query *shared, size_t number,
			uint64_t max_bytes, struct buf *warnings, struct err *err)
{
	const struct query_result_options options = { .selector = &shared->selectors[number],
						      .group_by = &shared->group_by,
						      .keep_addresses = true,
						      .memory_max = request->api->memory_max };
	struct share_side *side = &shared->share.sides[number];
	struct query_result result = { 0 };
	struct frozen frozen = { 0 };
	struct query_stats before = request->stats;
	bool good;

	shared_query_use_window(shared, number, request);
	request->stats.symbols = (struct symbol_lookup_stats){ 0 };
	good = query_result_read(&result, request, &options, err);
	if (good) {
		query_stats_add(&request->stats, &before);
		good = frozen_make(result.merge, max_bytes, request->req->arena, &frozen, err);
		if (!good)
			count_limit(REJECTED_TOO_BIG, err);
	}
	side->payload = frozen.payload;
	side->reasons = frozen.reasons;
	add_warnings(warnings, &result);
	if (result.memory.used > request->memory_used)
		request->memory_used = result.memory.used;
	query_result_done(&result);
	return good;
}

/* All sides together must not exceed --share-max-bytes. */
static bool freeze(struct api_request *request, struct shared_query *shared, struct err *err)
{
	struct buf warnings = { .arena = request->req->arena };
	uint64_t left = request->api->share_max_bytes;

	for (size_t i = 0; i < shared->share.side_count; i++) {
		const struct share_side *side = &shared->share.sides[i];

		if (!freeze_side(request, shared, i, left, &warnings, err))
			return false;
		left -= side->payload.len + side->reasons.len;
	}
	shared->share.warnings = buf_bytes(&warnings);
	return true;
}

/* One share is stored at a time, because each opens a connection outside of the pool. */
static bool store(struct api_request *request, const struct share *share, struct err *err)
{
	struct api *api = request->api;
	const struct timespec until = clock_timespec(request->bounds.deadline_ns);

	if (pthread_mutex_clocklock(&api->share_lock, CLOCK_MONOTONIC, &until) != 0)
		return err_set(err, ERR_TIMEOUT, "other shares are being stored: try again later");

	bool stored = share_store(api->postgres, share, api->share_total_max_bytes,
				  &request->bounds, err);

	pthread_mutex_unlock(&api->share_lock);
	if (!stored)
		count_limit(REJECTED_FULL, err);
	return stored;
}

static void put_time(struct json *json, const char *name, uint64_t ms)
{
	json_key(json, str_from(name));
	json_double(json, (double)ms / 1000);
}

static void put_text(struct json *json, const char *name, str text)
{
	json_key(json, str_from(name));
	json_str(json, text);
}

static void put_side(struct json *json, const struct share_side *side)
{
	put_text(json, "query", side->query);
	put_time(json, "start", side->start_ms);
	put_time(json, "end", side->end_ms);
}

static void put_sides(struct json *json, const struct share *share)
{
	static const char *const names[SHARE_SIDES_MAX] = { "a", "b" };

	if (share->side_count == 1) {
		put_side(json, &share->sides[0]);
		return;
	}
	for (size_t i = 0; i < SHARE_SIDES_MAX; i++) {
		json_key(json, str_from(names[i]));
		json_object(json);
		put_side(json, &share->sides[i]);
		json_end_object(json);
	}
}

static void write_share(struct api_request *request, const struct share *share)
{
	struct arena *arena = request->req->arena;
	struct json_response response;
	struct json *json = &response.json;

	json_response_begin(&response, arena);
	json_object(json);
	put_text(json, "id", share->id);
	put_text(json, "url", str_format(arena, "/s/" STR_FMT, STR_ARG(share->id)));
	put_sides(json, share);
	put_text(json, "group_by", share->group_by);
	put_time(json, "created", share->created_ms);
	if (share->expires_ms)
		put_time(json, "expires", share->expires_ms);
	json_key(json, STR("frozen"));
	json_bool(json, share->is_frozen);
	json_end_object(json);
	request->res->content_type = "application/json";
	request->res->body = json_response_end(&response, &request->stats);
}

/* Without this check, a form on any web page in the user's browser could create shares here. */
static bool is_json(const struct http_request *req, struct err *err)
{
	str type = http_header(req, "Content-Type");

	return str_eq(str_trim(str_cut(&type, ';')), STR("application/json")) ||
	       err_set(err, ERR_INVALID,
		       "the body must be JSON, with Content-Type: application/json");
}

bool respond_share(struct api_request *request, struct err *err)
{
	const struct http_request *req = request->req;
	uint64_t now_ms = clock_unix_ns() / NS_PER_MS;
	CLEANUP(shared_query_done) struct shared_query shared = { 0 };
	struct share *share = &shared.share;
	struct share_request body;

	if (!is_json(req, err) || !share_request_read(req->body, now_ms, req->arena, &body, err))
		return false;
	*share = (struct share){ .group_by = body.group_by,
				 .side_count = body.side_count,
				 .created_ms = now_ms,
				 .expires_ms = body.expires_ms,
				 .is_frozen = body.freeze };
	for (size_t i = 0; i < body.side_count; i++)
		share->sides[i] = (struct share_side){ .query = body.sides[i].query,
						       .start_ms = body.sides[i].window.start_ms,
						       .end_ms = body.sides[i].window.end_ms };
	if (!shared_query_parse(&shared, req->arena, err) ||
	    !share_id_make(req->arena, &share->id, err) ||
	    (body.freeze && !freeze(request, &shared, err)) || !store(request, share, err))
		return false;
	metric_add_at(&made, body.freeze ? KIND_FROZEN : KIND_LIVE, 1);
	write_share(request, share);
	return true;
}

bool respond_shared(struct api_request *request, struct err *err)
{
	struct share share;

	if (!shared_query_find(request, request->req->below, false, &share, err))
		return false;
	write_share(request, &share);
	return true;
}

/* Redirect to the page; the URL is relative, so that a proxy may serve the querier below a path. */
bool respond_link(struct api_request *request, struct err *err)
{
	struct share share;

	if (!shared_query_find(request, request->req->below, false, &share, err))
		return false;
	request->res->status = 302;
	api_request_add_header(request, STR("Location"),
			       str_format(request->req->arena, "../%s?share=" STR_FMT,
					  share.side_count == 2 ? "compare" : "",
					  STR_ARG(share.id)));
	api_request_add_header(request, STR("Cache-Control"), STR("no-store"));
	api_request_add_header(request, STR("Referrer-Policy"), STR("no-referrer"));
	return true;
}
