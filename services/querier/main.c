// SPDX-License-Identifier: Apache-2.0
/*
 * decima-querier - serves queries of stored profiles over HTTP. The only rows it writes to the
 * database are shares.
 */
#include "base/clock.h"
#include "querier/api/api.h"
#include "querier/api/api_request.h"
#include "querier/api/error_response.h"
#include "querier/api/handlers.h"
#include "querier/api/shared_query.h"
#include "querier/report/report.h"
#include "querier/symbolize/symbol_lookup.h"
#include "server/daemon.h"
#include "server/metrics/metrics.h"
#include "store/limits.h"

struct settings {
	struct daemon_settings daemon;
	const char *postgres;
	uint64_t concurrency, connections, memory_max, memory_total_max, timeout_ns;
	const char *symbolizer_url;
	uint64_t symbolizer_timeout_ns, symbol_cache_max_bytes;
	uint64_t share_max_bytes, share_total_max_bytes;
};

#define FIELD(name) offsetof(struct settings, name)

static const struct conf_key keys[] = {
	DAEMON_KEYS(struct settings, daemon, "127.0.0.1:7070"),
	{ "postgres", CONF_STR, FIELD(postgres), .fallback = "postgresql://127.0.0.1:5432/decima",
	  .help = "PostgreSQL with the profiles: a URI or keyword=value pairs in libpq's format. A "
		  "standby suffices for all but storing shares." },
	{ "query-concurrency", CONF_U64, FIELD(concurrency), .fallback = "8", .min = 1,
	  .max = POOL_MAX, .help = "Queries that run at the same time; others wait up to 10 s." },
	{ "query-connections", CONF_U64, FIELD(connections), .fallback = "2", .min = 1,
	  .max = READERS_MAX,
	  .help = "Connections to PostgreSQL, and threads, that one query may use if it reads much "
		  "data, all in one snapshot. The total is at most this times query-concurrency." },
	{ "query-memory-limit", CONF_BYTES, FIELD(memory_max), .fallback = "512MB", .min = 1 << 20,
	  .help = "Memory that one query may use; a query that needs more is rejected (422)." },
	{ "memory-limit", CONF_BYTES, FIELD(memory_total_max), .fallback = "4GB", .min = 1 << 20,
	  .help = "Memory of all queries and responses: a query counts with --query-memory-limit "
		  "while it runs, and then with what its response uses, until the client has read "
		  "it. A query for which nothing is left waits up to 10 s (503). Symbols and "
		  "connections need memory besides." },
	{ "query-timeout", CONF_DURATION, FIELD(timeout_ns), .fallback = "1m", .min = NS_PER_MS,
	  .max = QUERY_TIMEOUT_MAX_MS * NS_PER_MS,
	  .help = "Time that one query may take, from the wait for a connection to the last byte "
		  "sent. After that it is cancelled, in PostgreSQL as well (503; a response that "
		  "is being sent is cut). A request may set a shorter time "
		  "with `timeout`." },
	{ "symbolizer-url", CONF_STR, FIELD(symbolizer_url), .fallback = "",
	  .help = "URL of the symbolizer, as http://host:7073. Empty: addresses are not "
		  "symbolized." },
	{ "symbolizer-timeout", CONF_DURATION, FIELD(symbolizer_timeout_ns), .fallback = "5s",
	  .min = NS_PER_MS, .max = QUERY_TIMEOUT_MAX_MS * NS_PER_MS,
	  .help = "Time that one query may wait for symbols, and at most half of the time it has "
		  "left. Addresses without symbols by then stay addresses, and the response has a "
		  "warning." },
	{ "symbol-cache-max-bytes", CONF_BYTES, FIELD(symbol_cache_max_bytes), .fallback = "256MB",
	  .min = 1 << 20,
	  .help = "Memory of cached symbols; beyond it, the least recently used binaries are "
		  "evicted." },
	{ "share-max-bytes", CONF_BYTES, FIELD(share_max_bytes), .fallback = "8MB", .min = 1 << 10,
	  .help = "Compressed size of one frozen share, both sides of a comparison together; a "
		  "larger one is rejected (422)." },
	{ "share-total-max-bytes", CONF_BYTES, FIELD(share_total_max_bytes), .fallback = "10GB",
	  .min = 1 << 10,
	  .help = "Size of all shares in the database; beyond it, new shares are rejected (422)." },
};

static struct metric *const *const metrics[] = { api_request_metrics,   error_response_metrics,
						 pool_metrics,          report_metrics,
						 symbol_lookup_metrics, symbol_cache_metrics,
						 symbolization_metrics, shared_query_metrics,
						 share_metrics,         NULL };

static bool run(void *self, struct err *err)
{
	const struct settings *settings = self;
	struct api api;

	if (settings->memory_max > settings->memory_total_max)
		return err_set(err, ERR_INVALID,
			       "--query-memory-limit is more than --memory-limit");
	api_init(&api,
		 &(struct api_options){
			 .store = { .postgres = settings->postgres, .cancel = daemon_cancel() },
			 .concurrency = settings->concurrency,
			 .connections = settings->connections,
			 .memory_max = settings->memory_max,
			 .memory_total_max = settings->memory_total_max,
			 .timeout_ns = settings->timeout_ns,
			 .symbolizer_url = settings->symbolizer_url,
			 .symbolizer_timeout_ns = settings->symbolizer_timeout_ns,
			 .symbol_cache_max_bytes = settings->symbol_cache_max_bytes,
			 .share_max_bytes = settings->share_max_bytes,
			 .share_total_max_bytes = settings->share_total_max_bytes });

	struct daemon_service service = { .routes = api_routes,
					  .route_count = api_route_count,
					  .self = &api,
					  .ready = api_ready,
					  .error_body = api_reject,
					  .freed = api_freed };
	bool served = daemon_serve_until_stop(&settings->daemon, &service, err);

	api_done(&api);
	return served;
}

int main(int argc, char **argv)
{
	static struct settings settings;

	return daemon_main(
		&(struct daemon_program){
			.conf = { .name = "decima-querier",
				  .summary = "Serves queries of stored profiles over HTTP.",
				  .keys = keys,
				  .key_count = ARRAY_LEN(keys) },
			.settings = &settings,
			.daemon = &settings.daemon,
			.metrics = metrics,
			.run = run,
		},
		argc, argv);
}
