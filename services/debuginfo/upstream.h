// SPDX-License-Identifier: Apache-2.0
/*
 * upstream - fetches files that the store lacks from other debuginfod servers.
 *
 * A fetched file is verified as an upload is, then stored. A miss is cached for a while. Concurrent
 * requests for one file cause one download: all of them try to acquire the file's write lock, and a
 * request that fails to acquire it polls until the file or the miss is there. Any thread.
 */
#pragma once

#include "base/cancel.h"
#include "client/server_list.h"
#include "debuginfo/debuginfo_limits.h"
#include "debuginfo/files.h"
#include "debuginfo/misses.h"

struct upstream_options {
	const char *servers; /* URLs, separated by spaces or commas; may be empty */
	uint64_t timeout_ns, missing_ns, max_bytes; /* missing_ns: how long a miss is cached */
	const struct cancel *cancel;
};

struct upstream {
	struct server_list servers;
	/* private */
	struct upstream_options options;
	struct files *files;
	struct misses misses;
	_Atomic unsigned int running, waiting;
};

/* options->servers is copied; options->cancel and `files` are borrowed until upstream_close().
 * Fails as server_list_parse(); there is nothing to close then. */
bool upstream_open(struct upstream *upstream, const struct upstream_options *options,
		   struct files *files, struct err *err) MUST_CHECK;

/* Frees all memory. The caller has joined all threads that use it. Accepts a zeroed struct. */
void upstream_close(struct upstream *upstream);

enum upstream_result { UPSTREAM_STORED, UPSTREAM_ABSENT, UPSTREAM_UNAVAILABLE };

struct upstream_request {
	struct file_key key;
	str path;            /* below /buildid/ID/, decoded */
	bool is_elf;         /* verify the file; false for a source, which is stored unverified */
	uint64_t newer_than; /* the stored generation to improve on; 0: no file is stored */
	const struct cancel *client_gone; /* set when the client has closed the connection */
	str forwarded;                    /* X-Forwarded-For of the client's request */
};

/* Blocks for at most FETCH_WAIT_SECONDS plus the downloads.
 * STORED: the file is in the store now.
 * ABSENT: no upstream server has it or is configured, or the request went in a loop.
 * UNAVAILABLE: it is not known whether a server has it; `why` has the reason. */
enum upstream_result upstream_get(struct upstream *upstream, const struct upstream_request *request,
				  struct err *why);

extern struct metric *const upstream_metrics[];
