// SPDX-License-Identifier: Apache-2.0
/*
 * upstream - other debuginfod servers, which are asked for what the store does not have.
 *
 * What they have comes into the store, verified as an upload is; what they do not have is
 * remembered for a while. However many ask for one file at once, it is one download: they all try
 * for the file's write lock, and who did not get it looks again until the file or the answer is
 * there.
 */
#pragma once

#include "base/stop.h"
#include "debuginfo_limits.h"
#include "files.h"
#include "misses.h"

struct upstream_options {
	const char *servers; /* URLs, separated by spaces or commas; may be empty */
	uint64_t timeout_ns, missing_ns, max_bytes;
	const struct stop *stop;
};

struct upstream {
	size_t server_count;
	/* private */
	struct upstream_options options;
	struct files *files;
	const char *servers[UPSTREAMS_MAX];
	struct arena arena;
	struct misses misses;
	_Atomic unsigned int running, waiting;
};

/* ERR_INVALID: not a list of addresses. */
bool upstream_open(struct upstream *upstream, const struct upstream_options *options,
		   struct files *files, struct err *err) MUST_CHECK;
void upstream_close(struct upstream *upstream);

enum upstream_result { UPSTREAM_STORED, UPSTREAM_ABSENT, UPSTREAM_UNAVAILABLE };

struct upstream_request {
	struct file_key key;
	str path;                       /* below /buildid/ID/, decoded */
	bool is_elf;                    /* else a source, which is not looked at */
	uint64_t newer_than;            /* than this generation: 0 where nothing is held */
	const struct stop *client_gone; /* asked once nobody waits for the answer any more */
	str forwarded;                  /* the X-Forwarded-For that came with the question */
};

/* CAME: the store has it now. UNAVAILABLE: nobody could say, with a sentence. */
enum upstream_result upstream_get(struct upstream *upstream, const struct upstream_request *request,
				  struct err *why);

enum { UPSTREAM_METRICS = 5 };
extern struct metric *const upstream_metrics[UPSTREAM_METRICS];
