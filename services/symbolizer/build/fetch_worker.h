// SPDX-License-Identifier: Apache-2.0
/*
 * fetch_worker - a child process that fetches debug files from debuginfod servers.
 *
 * libdebuginfod needs a process of its own, which has one thread and may be killed. The process has
 * the network and its directory, and parses no file: that is the build_worker's job. It is the same
 * program with a hidden argument, a SANDBOX_HELPER ("sandbox/sandbox.h") without capabilities. A
 * job and its report are one message each; the report passes the fetched file.
 */
#pragma once

#include "elf/build_id.h"
#include "wire/symbolize.h"

struct fetch_job {
	struct build_id id;
	uint32_t skipped_servers; /* bit i: do not query server i */
	bool is_debug_file;       /* an executable does not replace it */
};

struct fetch_report {
	enum name_reason reason; /* NAME_KNOWN: the message has the file's descriptor */
	bool is_fallback;        /* an executable, since there is no debug file */
	uint32_t hung;           /* bit i: server i took longer than HUNG_SECONDS and failed */
	uint64_t bytes;          /* size of the file */
	uint64_t duration_ns;
	char why[256];
};

#define FETCH_WORKER_MODE "fetch-debug-files"

/* In the child: the whole process; the result is the exit status. `directory` is an absolute path;
 * the owner has emptied it, and the process writes into it. */
int fetch_worker_main(const char *directory, const char *servers);
