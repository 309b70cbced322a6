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

enum {
	CONNECTIONS = 2048,        /* of HTTP, concurrent: a fleet sees a new build at once */
	DESCRIPTORS = 8192,        /* file descriptors requested at startup (RLIMIT_NOFILE) */
	UPLOADS_MAX = 8,           /* concurrent uploads; beyond: 503 with Retry-After */
	FETCHES_MAX = 8,           /* concurrent downloads from upstream */
	FETCH_WAITERS_MAX = 256,   /* requests that wait for a download; beyond: 503 */
	FETCH_WAIT_SECONDS = 120,  /* how long a request waits for a download; then 503 */
	UPLOAD_STALL_SECONDS = 30, /* pause between two pieces of an upload */
	RETRY_AFTER_SECONDS = 30,  /* value of the Retry-After header */
	GENERATIONS_MAX = 10000,   /* build ids in one request for generations; beyond: 422 */
	GENERATIONS_BODY_MAX = 2 << 20,
	SECTION_NAME_MAX = 255,
	SOURCE_PATH_MAX = 4096,
	UPSTREAMS_MAX = 16,
	FORWARDED_HOPS_MAX = 8, /* debuginfod servers that a request may have passed */
	MISSES_MAX = 64 << 10,  /* upstream misses cached; a newer one overwrites an older one */
	FAILURE_SECONDS = 30,   /* pause after an upstream server failed for a file */
	TOKEN_MAX = 4096,       /* length of the upload token, in bytes */
	TOKEN_MIN = 16,
	KEEP_PERCENT = 95,    /* of the quota that an eviction leaves: not one scan per upload */
	RESCAN_SECONDS = 300, /* interval of scans: other processes may write to the same store */
};
