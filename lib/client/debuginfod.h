// SPDX-License-Identifier: Apache-2.0
/*
 * debuginfod - asks a debuginfod server for the file of a build id, by libdebuginfod.
 *
 * That library takes its settings from the environment, keeps a cache that knows neither
 * generations nor short-lived misses, and cannot be given a deadline that always holds. So it is
 * used by a process of its own, which has one thread and may be killed; the environment is set
 * here, the cache is a private directory, and what it keeps there is removed once it is open.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

enum debuginfod_kind { DEBUGINFOD_DEBUGINFO, DEBUGINFOD_EXECUTABLE, DEBUGINFOD_KIND_COUNT };

enum debuginfod_answer {
	DEBUGINFOD_CAME,
	DEBUGINFOD_ABSENT,      /* the server says that it has none */
	DEBUGINFOD_UNAVAILABLE, /* no answer, or one that says nothing */
	DEBUGINFOD_TOO_LARGE,
};

struct debuginfod_options {
	const char *cache; /* an empty directory that is ours alone */
	uint64_t max_bytes, timeout_seconds, stall_seconds;
};

struct debuginfod {
	/* private */
	struct debuginfod_client *client; /* NULL: closed */
	struct debuginfod_options options;
};

bool debuginfod_open(struct debuginfod *debuginfod, const struct debuginfod_options *options,
		     struct err *err) MUST_CHECK;
void debuginfod_close(struct debuginfod *debuginfod);

/* With CAME ret_fd is a file without a name, the caller's; else err says why. */
enum debuginfod_answer debuginfod_fetch(struct debuginfod *debuginfod, const char *server,
					const char *build_id, enum debuginfod_kind kind,
					int *ret_fd, struct err *err);
