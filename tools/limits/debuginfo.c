// SPDX-License-Identifier: Apache-2.0
/* Bounds of services/debuginfo/debuginfo_limits.h. */
#include "debuginfo/debuginfo_limits.h"
#include "limits/limit.h"

#define ANSWERED(outcome) "503 with a sentence, `decima_debuginfo_" outcome "`"

static const struct limit rows[] = {
	LIMIT(CONNECTIONS, COUNT, "open connections",
	      "one more is cut, `decima_http_refused_connections_total`"),
	LIMIT(DESCRIPTORS, COUNT, "file descriptors that are asked for at the start",
	      "fewer are allowed: a warning in the log"),
	LIMIT(UPLOADS_MAX, COUNT, "uploads at once, `decima_debuginfo_uploads_running`",
	      ANSWERED("uploads_total{outcome=\"busy\"}")),
	LIMIT(FETCHES_MAX, COUNT,
	      "downloads from upstream at once, `decima_debuginfo_upstream_fetches`",
	      "others wait, `decima_debuginfo_upstream_waiters`"),
	LIMIT(FETCH_WAITERS_MAX, COUNT, "requests that wait for one of those",
	      ANSWERED("upstream_total{outcome=\"busy\"}")),
	LIMIT(FETCH_WAIT_SECONDS, SECONDS, "such a wait",
	      ANSWERED("upstream_total{outcome=\"busy\"}")),
	LIMIT(UPLOAD_STALL_SECONDS, SECONDS, "the pause between two pieces of an upload",
	      "it is cut, `decima_debuginfo_uploads_total{outcome=\"broken_off\"}`"),
	LIMIT(RETRY_AFTER_SECONDS, SECONDS, "when a client that was refused should come back",
	      PACE),
	LIMIT(GENERATIONS_MAX, COUNT, "build ids of one question for generations",
	      "422 `execution` with a sentence, `decima_http_requests_total`"),
	LIMIT(GENERATIONS_BODY_MAX, BYTES, "its body", "413, `decima_http_requests_total`"),
	LIMIT(SECTION_NAME_MAX, BYTES, "the name of a section that is asked for",
	      "400, `decima_debuginfo_answers_total{outcome=\"malformed\"}`"),
	LIMIT(SOURCE_PATH_MAX, BYTES, "the path of a source that is asked for",
	      "400, `decima_debuginfo_answers_total{outcome=\"malformed\"}`"),
	LIMIT(UPSTREAMS_MAX, COUNT, "upstream servers", "an error at the start"),
	LIMIT(FORWARDED_HOPS_MAX, COUNT, "debuginfod servers that a question has passed",
	      "upstream is not asked, `decima_debuginfo_upstream_total{outcome=\"in_circles\"}`"),
	LIMIT(MISSES_MAX, COUNT, "files that upstream did not have, remembered",
	      "an older one is forgotten and asked for again"),
	LIMIT(FAILURE_SECONDS, SECONDS, "the pause after upstream failed for a file",
	      ANSWERED("upstream_total{outcome=\"remembered\"}")),
	LIMIT(TOKEN_MIN, BYTES, "the token of uploads, at least", "an error at the start"),
	LIMIT(TOKEN_MAX, BYTES, "the token of uploads", "an error at the start"),
	LIMIT(KEEP_PERCENT, COUNT, "percent of `--store-max-bytes` that an eviction leaves",
	      "`decima_debuginfo_evicted_files_total`"),
	LIMIT(RESCAN_SECONDS, SECONDS, "how often the store is counted again", PACE),
};

const struct limit_table debuginfo_limits = TABLE("services/debuginfo/debuginfo_limits.h", rows);
