// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_loader - keeps what BPF programs unwind with: tables, and lists of mappings.
 *
 * Told of each sample, and of what becomes of processes (process_table.lists), it works once a
 * round. Agent thread only; what takes long is done by others (unwind_builder, unwind_kernel).
 *
 *     unwind_loader_open(&loader, &options, &processes, &err)
 *     unwind_loader_sampled(&loader, process, record)   for each sample, in the order of time
 *     unwind_loader_round(&loader)                      when a round is walked
 *
 * The stacks that travelled are walked with the same pages:
 *
 *     unwind_loader_list(&loader, process, address, &place, &count)
 *     space = unwind_loader_space(&loader); space.page(space.self, place / UNWIND_PAGE_BYTES)
 */
#pragma once

#include "stack_walk.h"
#include "unwind_builder.h"
#include "unwind_kernel.h"
#include "unwind_lists.h"
#include "unwind_tables.h"

struct unwind_loader_options {
	uint64_t max_bytes;
	struct unwind_builder_options builder;
	int segments_fd, processes_fd; /* the maps unwind_segments and unwind_processes */
	struct unwind_generation *generation;
};

struct unwind_loader {
	struct unwind_store store;
	struct unwind_tables tables;
	struct unwind_lists lists;
	/* private */
	struct unwind_kernel kernel;
	struct unwind_builder builder;
	struct unwind_generation *generation;
	struct process_table *processes; /* NULL: it is not open */
	struct unwind_mapping *scratch;
	size_t scratch_pages;
};

bool unwind_loader_open(struct unwind_loader *loader, const struct unwind_loader_options *options,
			struct process_table *processes, struct err *err) MUST_CHECK;

/* The table of processes is empty, or no more: it speaks to the loader until then. */
void unwind_loader_close(struct unwind_loader *loader);

void unwind_loader_sampled(struct unwind_loader *loader, struct process *process,
			   const struct sample_record *record);
void unwind_loader_round(struct unwind_loader *loader);

/* Once an interval. */
void unwind_loader_tidy(struct unwind_loader *loader);

/* The pages of tables and lists. */
struct unwind_space unwind_loader_space(struct unwind_loader *loader);

/*
 * The list of a process's mappings as of now, where unwind_loader_space() finds it, be it known to
 * programs or not; those in which this address lies, should exec be at work. Good until the next
 * call. False: there are none.
 */
bool unwind_loader_list(struct unwind_loader *loader, const struct process *process,
			uint64_t address, uint64_t *ret_place, uint32_t *ret_count) MUST_CHECK;

/*
 * The executable that this address of a process is in, if its table is on its way; it is asked for,
 * if need be, since a frame lies there. NULL: none will come.
 */
const struct executable *unwind_loader_awaits(struct unwind_loader *loader,
					      const struct process *process, uint64_t leaf,
					      uint64_t address, uint64_t now_ns);

extern struct metric *const unwind_loader_metrics[];
extern const size_t unwind_loader_metric_count;
void unwind_loader_measure(const struct unwind_loader *loader);
