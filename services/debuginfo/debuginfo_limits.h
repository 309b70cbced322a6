// SPDX-License-Identifier: Apache-2.0
/*
 * debuginfo_limits - the limits of the debug file store and of its HTTP API.
 *
 * The size of the store, and the size and duration of an upload, are settings. Each rejected
 * request is counted by its outcome in decima_debuginfo_uploads_total,
 * decima_debuginfo_responses_total or decima_debuginfo_upstream_total; evictions are counted in
 * decima_debuginfo_evicted_files_total.
 */
#pragma once

#include "base/limit.h"

#define DEBUGINFO_LIMITS(LIMIT)                                                                  \
	/* A fleet sees a new build at once. */                                                  \
	LIMIT(CONNECTIONS, 2048, COUNT, "open connections",                                      \
	      "one more is closed, `decima_http_refused_connections_total`")                     \
	/* RLIMIT_NOFILE. */                                                                     \
	LIMIT(DESCRIPTORS, 8192, COUNT, "file descriptors requested at startup",                 \
	      "if fewer are allowed: a warning in the log")                                      \
	LIMIT(UPLOADS_MAX, 8, COUNT, "concurrent uploads, `decima_debuginfo_uploads_running`",   \
	      UNAVAILABLE("uploads_total{outcome=\"busy\"}"))                                    \
	LIMIT(UPLOADS_PER_CLIENT_MAX, 2, COUNT,                                                  \
	      "concurrent uploads of one client address, if `--http-address-share` is not 100",  \
	      "429, `decima_debuginfo_uploads_total{outcome=\"client_busy\"}`")                  \
	LIMIT(UPLOAD_CLIENTS_MAX, 4096, COUNT,                                                   \
	      "client addresses whose uploaded bytes are counted",                               \
	      "the one with the fewest bytes is forgotten, "                                     \
	      "`decima_debuginfo_upload_clients_forgotten_total`")                               \
	LIMIT(FETCHES_MAX, 8, COUNT,                                                             \
	      "concurrent downloads from upstream, `decima_debuginfo_upstream_fetches`",         \
	      "other requests wait, `decima_debuginfo_upstream_waiters`")                        \
	LIMIT(FETCH_WAITERS_MAX, 256, COUNT, "requests that wait for such a download",           \
	      UNAVAILABLE("upstream_total{outcome=\"busy\"}"))                                   \
	LIMIT(FETCH_WAIT_SECONDS, 120, SECONDS, "how long a request waits for such a download",  \
	      UNAVAILABLE("upstream_total{outcome=\"busy\"}"))                                   \
	LIMIT(UPLOAD_STALL_SECONDS, 30, SECONDS, "the pause between two pieces of an upload",    \
	      "it is aborted, `decima_debuginfo_uploads_total{outcome=\"aborted\"}`")            \
	LIMIT(UPLOAD_SLOWEST_BYTES, 16 << 10, BYTES,                                             \
	      "bytes of an upload in a second, on average, after the first 30 s",                \
	      "it is aborted, `decima_debuginfo_uploads_total{outcome=\"aborted\"}`")            \
	LIMIT(RETRY_AFTER_SECONDS, 30, SECONDS, "`Retry-After` of a rejected request", PACE)     \
	LIMIT(GENERATIONS_MAX, 10000, COUNT, "build ids in one request for generations",         \
	      "422 `execution` with a sentence, `decima_http_requests_total`")                   \
	LIMIT(GENERATIONS_BODY_MAX, 2 << 20, BYTES, "the body of such a request",                \
	      "413, `decima_http_requests_total`")                                               \
	LIMIT(SECTION_NAME_MAX, 255, BYTES, "the name of a requested section",                   \
	      "400, `decima_debuginfo_responses_total{outcome=\"malformed\"}`")                  \
	LIMIT(SOURCE_PATH_MAX, 4096, BYTES, "the path of a requested source",                    \
	      "400, `decima_debuginfo_responses_total{outcome=\"malformed\"}`")                  \
	LIMIT(FORWARDED_HOPS_MAX, 8, COUNT, "debuginfod servers that a request has passed",      \
	      "upstream is not queried, "                                                        \
	      "`decima_debuginfo_upstream_total{outcome=\"forwarding_loop\"}`")                  \
	LIMIT(MISSES_MAX, 64 << 10, COUNT, "cached upstream misses",                             \
	      "an older one is evicted, and the file is queried again")                          \
	LIMIT(FAILURE_SECONDS, 30, SECONDS, "the pause after upstream failed for a file",        \
	      UNAVAILABLE("upstream_total{outcome=\"cached\"}"))                                 \
	LIMIT(TOKEN_MIN, 16, BYTES, "the upload token, at least", "an error at startup")         \
	LIMIT(TOKEN_MAX, 4096, BYTES, "the upload token", "an error at startup")                 \
	/* Not one scan per upload. */                                                           \
	LIMIT(KEEP_PERCENT, 95, COUNT, "percent of `--store-max-bytes` that an eviction leaves", \
	      "`decima_debuginfo_evicted_files_total`")                                          \
	LIMIT(ASKED_LATELY_SECONDS, 24 * 3600, SECONDS,                                          \
	      "how long a file that a client asked for is not evicted for an upload",            \
	      "507 with a sentence, `decima_debuginfo_uploads_total{outcome=\"full\"}`")         \
	/* Other processes may write to the same store. */                                       \
	LIMIT(DISK_CHECK_MS, 5000, MS, "the pause between two checks of the disk", PACE)         \
	LIMIT(DISK_CHECK_LATE_MS, 2000, MS, "a check of the disk, which writes one byte",        \
	      "`/ready` is 503 until the disk responds; after LIVENESS_MS `/healthy` is 503")    \
	LIMIT(SYNC_BYTES, 64 << 20, BYTES, "bytes of a file that are written without a sync",    \
	      "they are synced before more are received")                                        \
	LIMIT(RESCAN_SECONDS, 300, SECONDS, "the interval of scans of the store", PACE)

DEBUGINFO_LIMITS(LIMIT_CONSTANT)
