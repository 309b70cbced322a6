// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_loader - maintains the memory that BPF programs unwind with: tables, and lists of
 * mappings.
 *
 * It receives each sample, and changes of processes (process_table.lists), and works once a round.
 * Agent thread only; slow operations run in the threads of unwind_builder and unwind_kernel.
 *
 *     unwind_loader_open(&loader, &options, &processes, &err)
 *     unwind_loader_sampled(&loader, process, record)   for each sample, in the order of time
 *     unwind_loader_round(&loader)                      at the end of a round
 *
 * Stacks that were deferred to user space are walked with the same pages:
 *
 *     unwind_loader_list(&loader, process, address, &place, &count)
 *     space = unwind_loader_space(&loader); space.page(space.self, place / UNWIND_PAGE_BYTES)
 */
#pragma once

#include "agent/unwind/stack_walk.h"
#include "agent/unwind/unwind_builder.h"
#include "agent/unwind/unwind_kernel_internal.h"
#include "agent/unwind/unwind_lists.h"
#include "agent/unwind/unwind_tables_internal.h"

struct unwind_loader_options {
	uint64_t max_bytes; /* of the BPF maps, --unwind-table-max-bytes */
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
	struct process_table *processes; /* NULL: the loader is not open */
	struct unwind_mapping *scratch;
	size_t scratch_pages;
};

bool unwind_loader_open(struct unwind_loader *loader, const struct unwind_loader_options *options,
			struct process_table *processes, struct err *err) MUST_CHECK;

/* Call it after the process table is emptied or freed: until then the table uses the loader. */
void unwind_loader_close(struct unwind_loader *loader);

void unwind_loader_sampled(struct unwind_loader *loader, struct process *process,
			   const struct sample_record *record);
void unwind_loader_round(struct unwind_loader *loader);

/* Once an interval: close files that no process maps. */
void unwind_loader_close_unmapped(struct unwind_loader *loader);

/* The pages of tables and lists. Valid until unwind_loader_close(). */
struct unwind_space unwind_loader_space(struct unwind_loader *loader);

/*
 * The list of a process's current mappings, at a place of unwind_loader_space(), even if the
 * process is not listed for programs. During an exec: the image in which `address` lies. Valid
 * until the next call. False: the process has no mappings.
 */
bool unwind_loader_list(struct unwind_loader *loader, const struct process *process,
			uint64_t address, uint64_t *ret_place, uint32_t *ret_count) MUST_CHECK;

/*
 * The executable that `address` of a process is in, if its table is pending. Requests the table if
 * necessary, since a frame lies in it. NULL: no table will come.
 */
const struct executable *unwind_loader_pending_executable(struct unwind_loader *loader,
							  const struct process *process,
							  uint64_t leaf, uint64_t address,
							  uint64_t now_ns);

extern struct metric *const unwind_loader_metrics[];
extern const size_t unwind_loader_metric_count;

/* Copy the counters to the metrics. */
void unwind_loader_measure(const struct unwind_loader *loader);
