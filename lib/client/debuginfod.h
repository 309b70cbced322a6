// SPDX-License-Identifier: Apache-2.0
/*
 * debuginfod - downloads the file of a build id from a debuginfod server with libdebuginfod.
 *
 * The library reads its settings from the environment, has a cache without generations and without
 * short-lived misses, and does not enforce a deadline in all cases. It must therefore run in a
 * process of its own that has one thread and may be killed. This module sets the environment, uses
 * a private directory as the cache, and unlinks each cached file once it is open.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

enum debuginfod_kind { DEBUGINFOD_DEBUGINFO, DEBUGINFOD_EXECUTABLE, DEBUGINFOD_KIND_COUNT };

enum debuginfod_outcome {
	DEBUGINFOD_FETCHED,     /* the file was downloaded */
	DEBUGINFOD_ABSENT,      /* the server does not have the file */
	DEBUGINFOD_UNAVAILABLE, /* no response, or an unexpected one */
	DEBUGINFOD_TOO_LARGE,   /* more than max_bytes */
};

struct debuginfod_options {
	const char *cache; /* an empty directory, used by this process only */
	uint64_t max_bytes, timeout_seconds, stall_seconds;
};

struct debuginfod {
	/* private */
	struct debuginfod_client *client; /* NULL: closed */
	struct debuginfod_options options;
};

/* `options` is copied; its `cache` is borrowed until the close. The struct must not move while it
 * is open. Failures: the cache cannot be written, or the library cannot start; the struct is closed
 * then. debuginfod_close() accepts a zeroed or closed struct. */
bool debuginfod_open(struct debuginfod *debuginfod, const struct debuginfod_options *options,
		     struct err *err) MUST_CHECK;
void debuginfod_close(struct debuginfod *debuginfod);

/* DEBUGINFOD_FETCHED: *ret_fd is an unlinked file, which the caller closes. Otherwise err is set,
 * and the caller decides by the outcome, not by the code of err, whether to retry.
 */
enum debuginfod_outcome debuginfod_fetch(struct debuginfod *debuginfod, const char *server,
					 const char *build_id, enum debuginfod_kind kind,
					 int *ret_fd, struct err *err);
