// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_builder - fetches unwind tables: from the cache on disk, or newly built.
 *
 * A thread of this module handles one request at a time. If a table is not in the cache, the thread
 * sends the ELF file to decima-agent-builder, a sandboxed process that it starts on demand and
 * kills when it is idle. Before the source returns a table, its memory is sealed against changes
 * and verified. The functions of unwind_builder_source() never wait.
 */
#pragma once

#include "agent/unwind/unwind_cache_internal.h"
#include "agent/unwind/unwind_tables_internal.h"
#include "base/queue.h"
#include "sandbox/sandbox.h"

/* The options are borrowed during unwind_builder_start() only. */
struct unwind_builder_options {
	const char *state_directory; /* NULL: no cache */
	uint64_t cache_max_bytes;
	uint64_t sandbox_uid;
};

enum { UNWIND_WORKER_TRUSTED, UNWIND_WORKER_OTHERS, UNWIND_WORKER_COUNT };

struct unwind_builder {
	/* private */
	struct queue requests, responses;
	struct cancel cancel;
	pthread_t thread;
	bool running;
	/* owned by the thread */
	struct unwind_cache cache;
	/* One for trusted files: a process that another file has taken over builds no table of
	 * theirs. */
	struct sandbox workers[UNWIND_WORKER_COUNT];
	bool is_missing;      /* the builder program; logged once */
	char sandbox_uid[24]; /* its argument */
	uint64_t used_ns;
};

/*
 * Starts the thread. The struct must not move until unwind_builder_stop(). ERR_IO: the thread
 * cannot be started; there is nothing to stop. A missing builder program or cache is no error: it
 * is logged.
 */
bool unwind_builder_start(struct unwind_builder *builder,
			  const struct unwind_builder_options *options, struct err *err) MUST_CHECK;

/* Kills a running build, stops the thread, closes all remaining descriptors and frees the memory.
 * Accepts a struct that is not running. */
void unwind_builder_stop(struct unwind_builder *builder);

/* The source for unwind_tables_init(), called by the agent thread. Valid until
 * unwind_builder_stop(). */
struct unwind_table_source unwind_builder_source(struct unwind_builder *builder);

extern struct metric *const unwind_builder_metrics[];
