// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_builder - gets the tables that are asked for: out of the cache, or built now.
 *
 * A thread of this module takes one at a time. What is not in the cache it hands to the builder
 * (decima-agent-builder), a process that it starts when there is something to build and ends when
 * there is nothing more. A table is verified before it is handed out, in memory that nobody can
 * change any more. Asking and answering never wait.
 */
#pragma once

#include "base/queue.h"
#include "unwind_cache.h"
#include "unwind_tables.h"
#include "worker_process.h"

struct unwind_builder_options {
	const char *state_directory; /* NULL: no cache */
	uint64_t cache_max_bytes;
};

struct unwind_builder {
	/* private */
	struct queue requests, responses;
	struct stop stop;
	pthread_t thread;
	bool running;
	/* the thread's own */
	struct unwind_cache cache;
	struct worker_process worker;
	bool is_missing; /* said once, until there is one */
	uint64_t used_ns;
};

bool unwind_builder_start(struct unwind_builder *builder,
			  const struct unwind_builder_options *options, struct err *err) MUST_CHECK;
void unwind_builder_stop(struct unwind_builder *builder);

struct unwind_table_source unwind_builder_source(struct unwind_builder *builder);

extern struct metric *const unwind_builder_metrics[];
extern const size_t unwind_builder_metric_count;
