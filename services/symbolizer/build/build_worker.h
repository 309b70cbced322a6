// SPDX-License-Identifier: Apache-2.0
/*
 * build_worker - a child process that fetches debug files and builds symbol tables from them.
 *
 * Debug files are untrusted, and what reads or fetches them may crash, hang or exhaust memory. In a
 * child process this costs only that file. The child executes the same program with a hidden
 * argument, at a lower priority, with limits on memory, CPU time and file sizes. It dies with the
 * thread that started it.
 *
 * Jobs and reports are one record each on a socket. A worker exits after it has read a file, so
 * its memory does not grow; a worker that found no file accepts the next job.
 */
#pragma once

#include "base/err.h"
#include "elf/build_id.h"
#include "wire/symbolize.h"

struct build_job {
	struct build_id id;
	uint32_t skipped_servers; /* bit i: do not query server i */
};

enum build_stage { BUILD_FETCHED, BUILD_DONE };

struct build_report {
	enum build_stage stage;
	enum name_reason reason; /* at BUILD_DONE; NAME_KNOWN: the table is in DIR/table */
	bool is_fallback;        /* built from an executable, or without its dwz file */
	uint32_t hung;           /* bit i: server i took longer than HUNG_SECONDS and failed */
	uint64_t bytes;          /* size of the fetched file */
	uint64_t duration_ns;    /* duration of this stage */
	char why[256];
};

/* In the child: true if this process was started as a build worker. Then main() must do nothing but
 * return build_worker_main(), whose result is the exit status. */
bool build_worker_is_requested(int argc, char **argv);
int build_worker_main(int argc, char **argv);

/* In the parent: a worker process, or no process (pid 0). The thread that starts the worker must
 * outlive it. */
struct build_worker {
	int pid, socket;
};

/* Starts a worker process; the caller stops it with build_worker_stop(). `directory` is an absolute
 * path; the caller has emptied it, and the worker writes into it. The texts are not kept. ERR_IO:
 * no process was started and *worker is unchanged. */
bool build_worker_start(struct build_worker *worker, const char *directory, const char *servers,
			struct err *err) MUST_CHECK;

/* Kills the worker if it still runs, and closes the socket. Returns the wait status, as of
 * waitpid(), if the worker had exited by itself; else 0. Accepts a zeroed struct. */
int build_worker_stop(struct build_worker *worker);
