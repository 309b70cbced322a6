// SPDX-License-Identifier: Apache-2.0
/*
 * decima-symbolizer - resolves addresses to functions, files, lines and inlined calls.
 */
#include "base/heap.h"
#include "client/server_list.h"
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_child.h"
#include "server/daemon.h"
#include "server/json/json_error.h"
#include "server/metrics/metrics.h"
#include "symbolizer/api/handler_symbolize.h"
#include "symbolizer/api/resolver.h"
#include "symbolizer/build/fetch_worker.h"
#include "symbolizer/build/generations.h"
#include "symbolizer/build/worker_pool.h"
#include "symbolizer/shared_cache/shared_cache.h"
#include "symbolizer/symbolizer_limits.h"
#include "symbolizer/tables/tables.h"

#include <limits.h>
#include <stdio.h>

struct settings {
	struct daemon_settings daemon;
	const char *debuginfod_urls, *state_directory, *redis;
	uint64_t cache_max_bytes, sandbox_uid;
	struct resolver_options resolve;
};

#define FIELD(name) offsetof(struct settings, name)

static const struct conf_key keys[] = {
	DAEMON_KEYS(struct settings, daemon, "127.0.0.1:7073"),
	{ "debuginfod-urls", CONF_STR, FIELD(debuginfod_urls), .fallback = "http://127.0.0.1:8002",
	  .help = "Debuginfod servers to fetch debug files from: URLs, separated by spaces or "
		  "commas. The first server that has a file is used." },
	{ "redis", CONF_STR, FIELD(redis), .fallback = "",
	  .help = "Redis that replicas use to share names: HOST:PORT, or "
		  "redis://USER:PASSWORD@HOST:PORT/NUMBER, percent-encoded. If empty, replicas "
		  "share nothing." },
	{ "state-directory", CONF_STR, FIELD(state_directory),
	  .fallback = "/var/lib/decima-symbolizer",
	  .help = "Directory of the symbol tables. Replicas with the same directory each lock a "
		  "part of it; a replica that starts reuses the first unlocked part." },
	{ "cache-max-bytes", CONF_BYTES, FIELD(cache_max_bytes), .fallback = "10GB", .min = 1 << 16,
	  .help = "Disk space for the symbol tables of each replica; beyond it, the least recently "
		  "used tables are evicted. Files that are being fetched or read are not "
		  "counted." },
	{ "sandbox-uid", CONF_U64, FIELD(sandbox_uid), SANDBOX_UID_SETTING },
	{ "symbolize-timeout", CONF_DURATION, FIELD(resolve.timeout_ns), .fallback = "10s",
	  .max = UINT64_C(240000000000),
	  .help = "Timeout of a request. Names that are not ready by then are pending, and their "
		  "build continues." },
};

/* Shared by the threads of the HTTP server. */
struct symbolizer_service {
	struct server_list servers;
	struct tables tables;
	struct generations generations;
	struct worker_pool pool;
	struct shared_cache cache;
	struct resolver resolver;
	char directory[PATH_MAX];
};

static struct metric *const *const metrics[] = { resolver_metrics,
						 generations_metrics,
						 tables_metrics,
						 worker_pool_metrics,
						 shared_cache_metrics,
						 sandbox_metrics,
						 NULL };

static bool serve_until_stop(struct symbolizer_service *service,
			     const struct daemon_settings *settings, struct err *err)
{
	const struct http_route routes[] = {
		{ .method = "POST",
		  .path = "/symbolize",
		  .handle = handler_symbolize,
		  .self = &service->resolver,
		  .body_max = REQUEST_BODY_MAX },
	};
	const struct daemon_service wanted = { .routes = routes,
					       .route_count = ARRAY_LEN(routes),
					       .self = service,
					       .error_body = json_error_unhandled,
					       .connections = CONNECTIONS_MAX };

	return daemon_serve_until_stop(settings, &wanted, err);
}

/* Use the directory itself, or, if replicas share it, the first subdirectory that is not locked. */
static bool open_tables(struct symbolizer_service *service, const struct settings *settings,
			struct err *err)
{
	for (unsigned int replica = 1; replica <= REPLICAS_MAX; replica++) {
		char path[PATH_MAX];
		int len = replica == 1
				  ? snprintf(path, sizeof(path), "%s", settings->state_directory)
				  : snprintf(path, sizeof(path), "%s/replica-%u",
					     settings->state_directory, replica);

		if (len < 0 || (size_t)len >= sizeof(path))
			return err_set(err, ERR_INVALID, "--state-directory is too long");
		if (tables_open(&service->tables, path, settings->cache_max_bytes, err)) {
			log_info("tables opened", "directory=%s", path);
			return realpath(path, service->directory) ||
			       err_errno(err, "find %s", path);
		}
		if (err->code != ERR_BUSY)
			return false;
	}
	return false;
}

static bool open_all(struct symbolizer_service *service, const struct settings *settings,
		     struct err *err)
{
	struct worker_pool_options pool = { .directory = service->directory,
					    .servers = settings->debuginfod_urls,
					    .sandbox_uid = settings->sandbox_uid,
					    .cancel = daemon_cancel() };

	if (!server_list_parse(&service->servers, settings->debuginfod_urls, err) ||
	    !open_tables(service, settings, err) ||
	    !shared_cache_open(&service->cache, settings->redis, err))
		return false;
	generations_open(&service->generations, &service->servers, daemon_cancel());
	service->resolver = (struct resolver){ .options = settings->resolve,
					       .tables = &service->tables,
					       .generations = &service->generations,
					       .pool = &service->pool,
					       .cache = &service->cache };
	return worker_pool_start(&service->pool, &pool, &service->tables, &service->generations,
				 err);
}

static bool run(void *self, struct err *err)
{
	struct settings *settings = self;
	struct symbolizer_service *service = heap_new(struct symbolizer_service);
	bool served = false;

	heap_return_freed();
	settings->resolve.cancel = daemon_cancel();
	if (open_all(service, settings, err))
		served = serve_until_stop(service, &settings->daemon, err);
	worker_pool_stop(&service->pool);
	shared_cache_close(&service->cache);
	generations_close(&service->generations);
	tables_close(&service->tables);
	server_list_done(&service->servers);
	free(service);
	return served;
}

int main(int argc, char **argv)
{
	static struct settings settings;

	if (argc == 4 && str_eq(str_from(argv[1]), STR(FETCH_WORKER_MODE)))
		return fetch_worker_main(argv[2], argv[3]);
	return daemon_main(
		&(struct daemon_program){
			.conf = { .name = "decima-symbolizer",
				  .summary = "Resolves addresses to functions, files, lines and "
					     "inlined calls.",
				  .keys = keys,
				  .key_count = ARRAY_LEN(keys) },
			.settings = &settings,
			.daemon = &settings.daemon,
			.metrics = metrics,
			.run = run,
		},
		argc, argv);
}
