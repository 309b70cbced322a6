// SPDX-License-Identifier: Apache-2.0
/*
 * debuginfo_limits - the bounds of the store of debug files and of its door.
 *
 * The store's size, an upload's size and its time are settings. Each refusal has its outcome in
 * decima_debuginfo_uploads_total, _answers_total or _upstream_total, evictions are
 * decima_debuginfo_evicted_files_total.
 */
#pragma once

enum {
	CONNECTIONS = 2048,        /* HTTP, at once: a fleet meets a new build at once */
	DESCRIPTORS = 8192,        /* file descriptors that are asked for at the start */
	UPLOADS_MAX = 8,           /* at once; more are told to come back (503) */
	FETCHES_MAX = 8,           /* from upstream at once */
	FETCH_WAITERS_MAX = 256,   /* requests that wait for one of them; more: 503 */
	FETCH_WAIT_SECONDS = 120,  /* for it; then 503 */
	UPLOAD_STALL_SECONDS = 30, /* from piece to piece */
	RETRY_AFTER_SECONDS = 30,  /* what a client is told that should come back */
	GENERATIONS_MAX = 10000,   /* build ids of one question; more: 422 */
	GENERATIONS_BODY_MAX = 2 << 20,
	SECTION_NAME_MAX = 255,
	SOURCE_PATH_MAX = 4096,
	UPSTREAMS_MAX = 16,
	FORWARDED_HOPS_MAX = 8, /* debuginfod servers that one question may pass */
	MISSES_MAX =
		64 << 10, /* misses that are remembered; a newer one takes an older one's place */
	FAILURE_SECONDS = 30, /* an upstream server that failed for a file is asked again after */
	TOKEN_MAX = 4096,     /* bytes of the file with the token */
	TOKEN_MIN = 16,
	KEEP_PERCENT = 95,    /* of the quota that an eviction leaves: not one scan per upload */
	RESCAN_SECONDS = 300, /* others may write to the same store */
};
