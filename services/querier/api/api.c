// SPDX-License-Identifier: Apache-2.0
#include "querier/api/api.h"

#include "querier/api/api_request.h"
#include "querier/api/error_response.h"
#include "querier/api/handlers.h"
#include "querier/api/web_page.h"

/*
 * `go tool pprof URL` requests `symbolz`, beside the URL of the profile, for addresses whose binary
 * it does not find locally, and aborts if that path does not exist. The profile has all known
 * symbols already, so this response lists none: each listed symbol would be a line of its body.
 */
static void serve_symbolz(void *self, const struct http_request *req, struct http_response *res)
{
	(void)self;
	(void)req;
	res->body = STR("num_symbols: 1\n");
}

static void serve_page(void *self, const struct http_request *req, struct http_response *res)
{
	(void)self;
	web_page_serve(&web_page_built, req, res);
}

static void serve_asset(void *self, const struct http_request *req, struct http_response *res)
{
	(void)self;
	if (!web_page_serve_asset(&web_page_built, req, res))
		error_response_write(ERROR_NOT_FOUND, "the web page has no such file", req->arena,
				     res);
}

/* The page for a browser; for curl, a list of the endpoints. */
static void serve_root(void *self, const struct http_request *req, struct http_response *res)
{
	if (web_page_accepted(req)) {
		serve_page(self, req, res);
		return;
	}
	res->body = STR(
		"Decima, a continuous profiler: where the machines of this fleet spend CPU "
		"time and memory.\n\n"
		"/api/v1/query?query={}&report=collapsed   stacks of all CPU samples\n"
		"/api/v1/query?query={}&report=pprof       the same, for go tool pprof\n"
		"/api/v1/query?query={}&report=flamegraph  the same as a tree, in JSON\n"
		"/api/v1/query?query={}&report=table       functions, in JSON\n"
		"/api/v1/query_range?query={}&sum_by=comm  sums over time, in JSON\n"
		"/api/v1/unnamed?query={}                  what has no function names, and why\n"
		"/api/v1/series                            the label sets of stored profiles\n"
		"/api/v1/labels                            the names of all labels\n"
		"/api/v1/label/comm/values                 the values of one label: programs\n"
		"/api/v1/profile_types                     the types of stored profiles\n"
		"/api/v1/fleet                             hosts, and the balance of their "
		"samples\n"
		"/metrics  /healthy  /ready                the state of this service\n\n"
		"docs/api.md describes all endpoints.\n");
}

#define ENDPOINT_HANDLER(constant, name, ...)                                            \
	static void handle_##name(void *self, const struct http_request *req,            \
				  struct http_response *res)                             \
	{                                                                                \
		api_request_handle(self, req, res, ENDPOINT_##constant, respond_##name); \
	}
ENDPOINT_ROWS(ENDPOINT_HANDLER)

#define ENDPOINT_ROUTE(constant, name, verb, url, max) \
	{ .method = (verb), .path = (url), .handle = handle_##name, .body_max = (max) },

const struct http_route api_routes[] = {
	{ .method = "GET", .path = "/", .handle = serve_root },
	{ .method = "GET", .path = "/fleet", .handle = serve_page },
	{ .method = "GET", .path = "/compare", .handle = serve_page },
	{ .method = "GET", .path = "/assets/", .handle = serve_asset },
	{ .method = "GET", .path = "/api/v1/symbolz", .handle = serve_symbolz },
	{ .method = "POST",
	  .path = "/api/v1/symbolz",
	  .handle = serve_symbolz,
	  .body_max = SYMBOLZ_BODY_MAX },
	ENDPOINT_ROWS(ENDPOINT_ROUTE)
};
const size_t api_route_count = ARRAY_LEN(api_routes);

void api_init(struct api *api, const struct api_options *options)
{
	*api = (struct api){ .memory_max = options->memory_max, .timeout_ns = options->timeout_ns };
	api->connections = options->connections;
	api->postgres = options->store.postgres;
	api->share_max_bytes = options->share_max_bytes;
	api->share_total_max_bytes = options->share_total_max_bytes;
	pthread_mutex_init(&api->share_lock, NULL);
	pool_init(&api->pool, &(struct pool_options){ .store = options->store,
						      .count = options->concurrency,
						      .connections = options->connections,
						      .memory_max = options->memory_total_max,
						      .query_memory_max = options->memory_max });
	ready_init(&api->ready, &options->store);
	symbolization_init(&api->symbolization,
			   &(struct symbolization_options){
				   .source = symbolizer_client_source(&api->symbolizer,
								      options->symbolizer_url),
				   .timeout_ns = options->symbolizer_timeout_ns,
				   .cache_max_bytes = options->symbol_cache_max_bytes });
}

void api_done(struct api *api)
{
	pool_done(&api->pool);
	ready_done(&api->ready);
	symbolization_done(&api->symbolization);
	pthread_mutex_destroy(&api->share_lock);
}

bool api_ready(void *self, struct err *why)
{
	return ready_get(&((struct api *)self)->ready, why);
}

void api_freed(void *self, uint64_t memory_counted)
{
	pool_set_memory(&((struct api *)self)->pool, memory_counted, 0);
}

void api_reject(void *self, const struct http_request *req, const char *why,
		struct http_response *res)
{
	(void)self;
	if (!str_starts_with(req->path, STR("/api/"))) {
		res->body = str_format(req->arena, "%s\n", why);
		return;
	}

	error_response_unhandled(req, why, res);
}
