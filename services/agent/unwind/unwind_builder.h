// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_builder - fetches unwind tables: from the cache on disk, or newly built.
 *
 * A thread of this module handles one request at a time. If a table is not in the cache, the thread
 * sends the ELF file to decima-agent-builder, a worker process that it starts on demand and kills
 * when it is idle. Before a table is handed out, its memory is sealed against changes and verified.
 * The functions of unwind_builder_source() never wait.
 */
#pragma once

#include "agent/unwind/unwind_cache_internal.h"
#include "agent/unwind/unwind_tables_internal.h"
#include "agent/worker/worker_process.h"
#include "base/queue.h"

struct unwind_builder_options {
	const char *state_directory; /* NULL: no cache */
	uint64_t cache_max_bytes;
};

struct unwind_builder {
	/* private */
	struct queue requests, responses;
	struct cancel cancel;
	pthread_t thread;
	bool running;
	/* owned by the thread */
	struct unwind_cache cache;
	struct worker_process worker;
	bool is_missing; /* the builder program; logged once */
	uint64_t used_ns;
};

bool unwind_builder_start(struct unwind_builder *builder,
			  const struct unwind_builder_options *options, struct err *err) MUST_CHECK;

/* Kills a running build. Requests and responses that are left are closed. */
void unwind_builder_stop(struct unwind_builder *builder);

/* The source for unwind_tables_init(). Valid until unwind_builder_stop(). */
struct unwind_table_source unwind_builder_source(struct unwind_builder *builder);

extern struct metric *const unwind_builder_metrics[];
extern const size_t unwind_builder_metric_count;
