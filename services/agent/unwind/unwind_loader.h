// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_loader - maintains the memory that BPF programs unwind with: tables, and lists of
 * mappings.
 *
 * The loader receives each sample, and changes of processes (process_table.lists), and works once a
 * round, a period of the sampling thread. Agent thread only; slow operations run in the threads of
 * unwind_builder and unwind_kernel.
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

/* The pointers and the descriptors must stay valid until unwind_loader_close(). */
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

/*
 * Starts the threads, and registers with the process table and its executable cache. The struct
 * must not move until unwind_loader_close(), which the caller calls on failure as well. ERR_IO: a
 * thread cannot be started.
 */
bool unwind_loader_open(struct unwind_loader *loader, const struct unwind_loader_options *options,
			struct process_table *processes, struct err *err) MUST_CHECK;

/* Stops the threads and frees everything. Call it after process_table_done(): until then the
 * process table uses the loader. Accepts a zeroed struct. */
void unwind_loader_close(struct unwind_loader *loader);

/* Requests the tables that a sample of the process needs, and lists the process. `process` may be
 * NULL. Waits for nothing, cannot fail. */
void unwind_loader_sampled(struct unwind_loader *loader, struct process *process,
			   const struct sample_record *record);

/* The end of a round: loads and evicts tables, writes lists, and reports to BPF programs which
 * cached data is stale. Cannot fail. */
void unwind_loader_round(struct unwind_loader *loader);

/* Called once per interval: closes open files that no process maps. */
void unwind_loader_close_unmapped(struct unwind_loader *loader);

/* The pages of tables and lists. The struct is valid until unwind_loader_close(), a page until the
 * end of the round. */
struct unwind_space unwind_loader_space(struct unwind_loader *loader);

/*
 * Makes the list of a process's current mappings, at a place of unwind_loader_space(), even if BPF
 * programs do not find the process. During an exec: of the image in which `address` lies. Valid
 * until the next call. False, with the outputs unchanged: the process has no mappings.
 */
bool unwind_loader_list(struct unwind_loader *loader, const struct process *process,
			uint64_t address, uint64_t *ret_place, uint32_t *ret_count) MUST_CHECK;

/*
 * The executable in which `address` of a process lies, if its table is pending (wanted and not
 * loaded yet). Requests the table if necessary, because a frame lies in the file. `leaf`: the leaf
 * address of the stack, which selects the image. The result borrows from the process. NULL: no
 * table will come.
 */
const struct executable *unwind_loader_pending_executable(struct unwind_loader *loader,
							  const struct process *process,
							  uint64_t leaf, uint64_t address,
							  uint64_t now_ns);

extern struct metric *const unwind_loader_metrics[];

/* Copies the counters to the metrics. */
void unwind_loader_measure(const struct unwind_loader *loader);
