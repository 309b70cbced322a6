// SPDX-License-Identifier: Apache-2.0
/* Limits of services/debuginfo/debuginfo_limits.h. */
#include "debuginfo/debuginfo_limits.h"
#include "limits/limit.h"

#define UNAVAILABLE(outcome) "503 with a sentence, `decima_debuginfo_" outcome "`"

static const struct limit rows[] = {
	LIMIT(CONNECTIONS, COUNT, "open connections",
	      "one more is closed, `decima_http_refused_connections_total`"),
	LIMIT(DESCRIPTORS, COUNT, "file descriptors requested at startup",
	      "if fewer are allowed: a warning in the log"),
	LIMIT(UPLOADS_MAX, COUNT, "concurrent uploads, `decima_debuginfo_uploads_running`",
	      UNAVAILABLE("uploads_total{outcome=\"busy\"}")),
	LIMIT(FETCHES_MAX, COUNT,
	      "concurrent downloads from upstream, `decima_debuginfo_upstream_fetches`",
	      "other requests wait, `decima_debuginfo_upstream_waiters`"),
	LIMIT(FETCH_WAITERS_MAX, COUNT, "requests that wait for such a download",
	      UNAVAILABLE("upstream_total{outcome=\"busy\"}")),
	LIMIT(FETCH_WAIT_SECONDS, SECONDS, "how long a request waits for such a download",
	      UNAVAILABLE("upstream_total{outcome=\"busy\"}")),
	LIMIT(UPLOAD_STALL_SECONDS, SECONDS, "the pause between two pieces of an upload",
	      "it is aborted, `decima_debuginfo_uploads_total{outcome=\"aborted\"}`"),
	LIMIT(RETRY_AFTER_SECONDS, SECONDS, "`Retry-After` of a rejected request", PACE),
	LIMIT(GENERATIONS_MAX, COUNT, "build ids in one request for generations",
	      "422 `execution` with a sentence, `decima_http_requests_total`"),
	LIMIT(GENERATIONS_BODY_MAX, BYTES, "the body of such a request",
	      "413, `decima_http_requests_total`"),
	LIMIT(SECTION_NAME_MAX, BYTES, "the name of a requested section",
	      "400, `decima_debuginfo_responses_total{outcome=\"malformed\"}`"),
	LIMIT(SOURCE_PATH_MAX, BYTES, "the path of a requested source",
	      "400, `decima_debuginfo_responses_total{outcome=\"malformed\"}`"),
	LIMIT(UPSTREAMS_MAX, COUNT, "upstream servers", "an error at startup"),
	LIMIT(FORWARDED_HOPS_MAX, COUNT, "debuginfod servers that a request has passed",
	      "upstream is not queried, "
	      "`decima_debuginfo_upstream_total{outcome=\"forwarding_loop\"}`"),
	LIMIT(MISSES_MAX, COUNT, "cached upstream misses",
	      "an older one is evicted, and the file is queried again"),
	LIMIT(FAILURE_SECONDS, SECONDS, "the pause after upstream failed for a file",
	      UNAVAILABLE("upstream_total{outcome=\"cached\"}")),
	LIMIT(TOKEN_MIN, BYTES, "the upload token, at least", "an error at startup"),
	LIMIT(TOKEN_MAX, BYTES, "the upload token", "an error at startup"),
	LIMIT(KEEP_PERCENT, COUNT, "percent of `--store-max-bytes` that an eviction leaves",
	      "`decima_debuginfo_evicted_files_total`"),
	LIMIT(RESCAN_SECONDS, SECONDS, "the interval of scans of the store", PACE),
};

const struct limit_table debuginfo_limits = TABLE("services/debuginfo/debuginfo_limits.h", rows);
