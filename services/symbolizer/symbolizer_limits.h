// SPDX-License-Identifier: Apache-2.0
/*
 * symbolizer_limits - the limits of requests, downloads, table builds and caches.
 *
 * The disk space of tables and the timeout of a request are settings. The limits of a request's
 * contents are in lib/profile/limits.h. Rejected requests are counted by status in
 * decima_http_requests_total; addresses that exceed a size limit are counted in
 * decima_symbolizer_addresses_total{outcome="too_large"}.
 */
#pragma once

#include "base/limit.h"

#define SYMBOLIZER_LIMITS(LIMIT)                                                                   \
	LIMIT(REPLICAS_MAX, 64, COUNT, "replicas that share a `--state-directory`",                \
	      "an error at startup")                                                               \
	LIMIT(CONNECTIONS_MAX, 128, COUNT, "open connections",                                     \
	      "one more is closed, `decima_http_refused_connections_total`")                       \
	LIMIT(REQUEST_BODY_MAX, 16 << 20, BYTES, "a request", "413, `decima_http_requests_total`") \
	/* For people; the parsed tree needs up to 100 times as much. */                           \
	LIMIT(JSON_BODY_MAX, 2 << 20, BYTES, "a request in JSON",                                  \
	      "422 `execution` with a sentence, `decima_http_requests_total`")                     \
	LIMIT(NAME_BYTES_MAX, 32 << 20, BYTES, "all distinct names of a response",                 \
	      "for the other addresses " NO_NAME("too_large"))                                     \
	LIMIT(DEBUG_FILE_MAX, UINT64_C(2) << 30, BYTES, "a debug file",                            \
	      NO_NAME("too_large") ", " BUILD("too_large"))                                        \
	LIMIT(BUILD_MEMORY_MAX, UINT64_C(6) << 30, BYTES, "address space to read a debug file",    \
	      "the process exits, " BUILD("too_large"))                                            \
	LIMIT(FETCH_MEMORY_MAX, UINT64_C(1) << 30, BYTES, "address space to fetch debug files",    \
	      "the process exits, " BUILD("too_large"))                                            \
	LIMIT(WORKER_NICE, 10, COUNT, "nice value of the processes that fetch and read files",     \
	      "nothing is lost: others have the CPU first")                                        \
	LIMIT(WORKERS, 2, COUNT, "files that are fetched and read concurrently",                   \
	      "other files wait, `decima_symbolizer_waiting_files`")                               \
	LIMIT(BUILD_QUEUE_MAX, 4096, COUNT, "files that wait",                                     \
	      NO_NAME("pending") "; started by a later request")                                   \
	LIMIT(FETCH_SECONDS, 300, SECONDS, "the fetch of one file from one server",                \
	      NO_NAME("unavailable"))                                                              \
	LIMIT(FETCH_STALL_SECONDS, 20, SECONDS, "a stall of such a fetch", NO_NAME("unavailable")) \
	LIMIT(BUILD_SECONDS, 300, SECONDS, "the reading of one file, CPU time and wall time",      \
	      "the worker is killed, " NO_NAME("too_large") ", " BUILD("late"))                    \
	LIMIT(TABLES_MAX, 16384, COUNT, "build ids with a table or a cached failure",              \
	      "the least recently used is evicted, `decima_symbolizer_tables_dropped_total`")      \
	LIMIT(KEEP_TABLES_PERCENT, 95, COUNT,                                                      \
	      "percent of `--cache-max-bytes` that an eviction leaves",                            \
	      "`decima_symbolizer_tables_dropped_total`")                                          \
	LIMIT(GENERATIONS_KEPT, 64 << 10, COUNT, "build ids whose generation is cached",           \
	      "an older one is queried again, `decima_symbolizer_generations_total`")              \
	LIMIT(GENERATIONS_QUERY_MAX, 10000, COUNT, "build ids in one query for generations",       \
	      "more queries")                                                                      \
	LIMIT(GENERATIONS_RESPONSE_MAX, 2 << 20, BYTES, "the response to such a query",            \
	      "the server is assumed to know no generations")                                      \
	LIMIT(GENERATION_FRESH_MS, 2000, MS, "how old a cached generation may be", PACE)           \
	LIMIT(GENERATION_WAIT_MS, 2000, MS, "the wait for a query for generations",                \
	      "the cached generation stays, `decima_symbolizer_generations_total`")                \
	LIMIT(SERVER_RETRY_MS, 3000, MS, "the pause after a server failed to report generations",  \
	      PACE)                                                                                \
	LIMIT(FOREIGN_SECONDS, 60, SECONDS, "how long a server is assumed to know no generations", \
	      PACE)                                                                                \
	/* All servers know generations. */                                                        \
	LIMIT(ABSENT_SECONDS, 10, SECONDS,                                                         \
	      "how long a miss on all servers is cached, if the generation stays",                 \
	      "the servers are queried again")                                                     \
	LIMIT(ABSENT_FOREIGN_SECONDS, 60, SECONDS, "the same, if a server knows no generations",   \
	      "the servers are queried again")                                                     \
	LIMIT(HUNG_SECONDS, 3, SECONDS,                                                            \
	      "the time without a result after which a server counts as hung",                     \
	      "files that no other server has are `unavailable` at once")                          \
	LIMIT(HUNG_PAUSE_SECONDS, 30, SECONDS, "how long a hung server is not queried for files",  \
	      PACE)                                                                                \
	LIMIT(FAILED_SECONDS, 5, SECONDS, "the pause after a server failed for a file",            \
	      NO_NAME("unavailable"))                                                              \
	LIMIT(UNREADABLE_SECONDS, 600, SECONDS,                                                    \
	      "how long the error of an unreadable file is cached, if its generation stays",       \
	      "it is fetched again")                                                               \
	LIMIT(FALLBACK_REFRESH_SECONDS, 600, SECONDS,                                              \
	      "the retry interval for a debug file, if there is only the executable",              \
	      "the servers are queried; the names from the executable are used meanwhile")         \
	LIMIT(REDIS_MS, 100, MS, "a round of commands to Redis",                                   \
	      "its use is paused, `decima_symbolizer_redis_lookups_total`")                        \
	LIMIT(REDIS_PAUSE_MS, 5000, MS, "the pause after Redis failed",                            \
	      "tables are built that another replica may have")                                    \
	LIMIT(REDIS_ADDRESSES_MAX, 20000, COUNT,                                                   \
	      "addresses of a request that are looked up in Redis",                                \
	      "the other addresses are resolved by tables")                                        \
	LIMIT(REDIS_REPLY_MAX, 32 << 20, BYTES, "the replies of Redis in one round",               \
	      "its use is paused, `decima_symbolizer_redis_lookups_total`")                        \
	LIMIT(REDIS_TTL_SECONDS, 86400, SECONDS, "how long names stay in Redis", PACE)             \
	LIMIT(REDIS_PUBLISH_MAX, 256, COUNT, "publications that wait to be sent to Redis",         \
	      "they are dropped, `decima_symbolizer_redis_put_total`")                             \
	LIMIT(REDIS_PUBLISH_BYTES, 64 << 20, BYTES, "memory of these publications",                \
	      "they are dropped, `decima_symbolizer_redis_put_total`")                             \
	LIMIT(REDIS_ROUND_COMMANDS, 512, COUNT, "commands in one round of a publication",          \
	      "more rounds")                                                                       \
	LIMIT(REDIS_SEEN, 1 << 16, COUNT, "addresses remembered as published",                     \
	      "an older one is published again")                                                   \
	LIMIT(LOCK_MS, 30000, MS, "the lifetime of a replica's build lock",                        \
	      "another replica builds the table, too")                                             \
	LIMIT(LOCK_WAIT_MS, 5000, MS, "how long other replicas wait for its result",               \
	      "they build the table, too")                                                         \
	LIMIT(POLL_INTERVAL_MS, 20, MS, "the minimum time between two checks for finished tables", \
	      PACE)

SYMBOLIZER_LIMITS(LIMIT_CONSTANT)
