// SPDX-License-Identifier: Apache-2.0
/*
 * worker - fetches one debug file after the other and builds their tables, in a process of its own.
 *
 * What it reads is foreign, and libelf and libdebuginfod meet it first: it may crash, hang or eat
 * memory, and costs no more than itself then. It is this same executable under a hidden name,
 * niced, with limits on memory, time and file sizes, and it dies with the thread that started it.
 * Orders come and reports go over a socket, a record each. A worker that has built a table ends, so
 * that none grows; one that only learned that there is no file goes on.
 */
#pragma once

#include "base/err.h"
#include "object/build_id.h"
#include "profile/symbolize.h"

struct build_job {
	struct build_id id;
	uint32_t skipped_servers; /* servers not to ask: bit i is the i-th */
};

enum build_stage { BUILD_FETCHED, BUILD_DONE };

struct build_report {
	enum build_stage stage;
	enum name_reason reason; /* of BUILD_DONE; NAME_KNOWN: DIR/table is the table */
	bool is_fallback;        /* of an executable */
	uint32_t hung;           /* servers that took long to say nothing */
	uint64_t bytes, took_ns; /* of the file that was fetched; of this stage */
	char why[256];
};

/* Whether this process was started as one. */
bool build_worker_is_requested(int argc, char **argv);
int build_worker_main(int argc, char **argv);

/*
 * From the other side: a process, or none yet (pid 0). The thread that starts it must live longer
 * than it does.
 */
struct build_worker {
	int pid, socket;
};

/* In its directory, which is emptied: an absolute path. */
bool build_worker_start(struct build_worker *worker, const char *directory, const char *servers,
			struct err *err) MUST_CHECK;

/* Ends it, however it is. What it ended of, if it had ended: a wait status; 0: it had not. */
int build_worker_stop(struct build_worker *worker);
