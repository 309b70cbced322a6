// SPDX-License-Identifier: Apache-2.0
#include "agent/unwind/unwind_loader.h"

#include "agent/agent_limits.h"
#include "base/clock.h"
#include "base/heap.h"
#include "server/metrics/metrics.h"

#define UNWIND_LOADER_METRICS(ROW)                                                                 \
	ROW(tables, METRIC_GAUGE, "decima_agent_unwind_tables", "Unwind tables in the kernel.")    \
	ROW(waiting, METRIC_GAUGE, "decima_agent_unwind_tables_waiting",                           \
	    "Unwind tables that are wanted and not in the kernel yet.")                            \
	ROW(table_bytes, METRIC_GAUGE, "decima_agent_unwind_table_bytes",                          \
	    "Bytes of the unwind tables in the kernel.")                                           \
	ROW(list_bytes, METRIC_GAUGE, "decima_agent_unwind_list_bytes",                            \
	    "Bytes of the processes' mappings in the kernel.")                                     \
	ROW(map_bytes, METRIC_GAUGE, "decima_agent_unwind_map_bytes",                              \
	    "Bytes of the BPF maps that hold both; what --unwind-table-max-bytes bounds.")         \
	ROW(loads, METRIC_COUNTER, "decima_agent_unwind_table_loads_total",                        \
	    "Unwind tables that were put into the kernel.")                                        \
	ROW(evictions, METRIC_COUNTER, "decima_agent_unwind_table_evictions_total",                \
	    "Unwind tables evicted from the kernel to make room.")                                 \
	ROW(refused, METRIC_COUNTER, "decima_agent_unwind_tables_refused_total",                   \
	    "Times an unwind table found no room: it is larger than --unwind-table-max-bytes, or " \
	    "all others were in use, and their owners have no more of them; by class of the "      \
	    "owner.",                                                                              \
	    METRIC_LABEL("owner", owner_class_names, OWNER_CLASS_COUNT))                           \
	ROW(skipped, METRIC_COUNTER, "decima_agent_unwind_tables_skipped_total",                   \
	    "Times an unwind table found no room that no frame needed: only other code of the "    \
	    "process was sampled.")                                                                \
	ROW(errors, METRIC_COUNTER, "decima_agent_unwind_table_build_errors_total",                \
	    "Unwind tables that could not be built, by reason.",                                   \
	    METRIC_LABEL("reason", unwind_outcome_names + 1, UNWIND_OUTCOME_COUNT - 1))            \
	ROW(listed, METRIC_GAUGE, "decima_agent_unwind_processes",                                 \
	    "Processes whose mappings the BPF program finds.")                                     \
	ROW(written, METRIC_COUNTER, "decima_agent_unwind_lists_written_total",                    \
	    "Lists of mappings that were put into the kernel.")                                    \
	ROW(lists_out, METRIC_COUNTER, "decima_agent_unwind_process_evictions_total",              \
	    "Processes evicted from the kernel to make room for others, until they are sampled "   \
	    "again.")                                                                              \
	ROW(lists_refused, METRIC_COUNTER, "decima_agent_unwind_lists_refused_total",              \
	    "Times a process's mappings found no room; its next sample retries.")                  \
	ROW(failures, METRIC_COUNTER, "decima_agent_unwind_map_failures_total",                    \
	    "Times the kernel could not allocate memory for unwind tables.")

METRICS(unwind_loader_metrics, UNWIND_LOADER_METRICS);

/* Page numbers beyond the store: the list that unwind_loader_list() made last. */
#define SCRATCH_PAGE ((uint64_t)UNWIND_SEGMENTS_MAX * UNWIND_SEGMENT_PAGES)

bool unwind_loader_open(struct unwind_loader *loader, const struct unwind_loader_options *options,
			struct process_table *processes, struct err *err)
{
	*loader =
		(struct unwind_loader){ .processes = processes, .generation = options->generation };
	if (!unwind_kernel_open(&loader->kernel, options->segments_fd, options->processes_fd, err))
		return false;
	if (!unwind_builder_start(&loader->builder, &options->builder, err)) {
		unwind_kernel_close(&loader->kernel);
		return false;
	}

	struct unwind_memory memory = unwind_kernel_memory(&loader->kernel);
	struct unwind_table_source source = unwind_builder_source(&loader->builder);

	unwind_store_init(&loader->store, &memory, options->max_bytes);
	unwind_lists_init(&loader->lists, &loader->store);
	unwind_tables_init(&loader->tables, &loader->store, &processes->executables, &source);

	struct executable_sink sink = unwind_tables_sink(&loader->tables);

	processes->lists = &loader->lists;
	executable_cache_set_sink(&processes->executables, EXECUTABLE_SINK_UNWIND, &sink);
	return true;
}

void unwind_loader_close(struct unwind_loader *loader)
{
	if (!loader->processes)
		return;
	unwind_kernel_stop(&loader->kernel);
	unwind_builder_stop(&loader->builder);
	unwind_lists_done(&loader->lists);
	unwind_tables_done(&loader->tables);
	unwind_store_done(&loader->store);
	unwind_kernel_close(&loader->kernel);
	free(loader->scratch);
	*loader = (struct unwind_loader){ 0 };
}

static void want_table(struct unwind_loader *loader, const struct process *process,
		       const struct mapping *mapping, bool is_needed, uint64_t now_ns)
{
	struct unwind_mapper mapper = { .pid = process->pid,
					.parent_pid = process->parent_pid,
					.start = mapping->start,
					.end = mapping->end,
					.is_needed = is_needed };

	struct executable *executable = executable_of(mapping->executable);

	if (executable && executable->unwind.state != UNWIND_TABLE_LOADED)
		unwind_tables_want(&loader->tables, executable, &mapper, now_ns);
}

/* Request the tables of all mappings at the first sample; one by one, each would delay the next.
 * A file that is being read may turn out to be another one, so they are requested once more. */
static void want_all(struct unwind_loader *loader, const struct process *process, uint64_t now_ns)
{
	const struct mappings *mappings = &process->image->mappings;

	process->image->list.wanted = true;
	for (size_t i = 0; i < mappings->len; i++) {
		const struct executable *executable = mappings->items[i].executable;

		want_table(loader, process, &mappings->items[i], false, now_ns);
		if (executable && executable->is_requested)
			process->image->list.wanted = false;
	}
}

/* Request the tables that frames of the sample lie in: evicted ones, and ones that failed before.
 */
static void want_frames(struct unwind_loader *loader, const struct process *process,
			const struct sample_record *record)
{
	const uint64_t *user = record->frames + record->kernel_frames;
	const struct mappings *mappings = process_mappings(process, user[0]);

	for (size_t i = 0; mappings && i < record->user_frames; i++) {
		const struct mapping *mapping = mappings_find(mappings, user[i] - (i > 0));

		if (mapping)
			want_table(loader, process, mapping, true, record->time_ns);
	}
}

void unwind_loader_sampled(struct unwind_loader *loader, struct process *process,
			   const struct sample_record *record)
{
	if (!loader->processes || !process || !process->image)
		return;
	if (!process->image->list.wanted)
		want_all(loader, process, record->time_ns);
	else if (record->user_frames &&
		 (record->user_end != USER_END_COMPLETE || record->flags & SAMPLE_FRAME_POINTERS))
		want_frames(loader, process, record);
	unwind_lists_sampled(&loader->lists, process);
}

const struct executable *unwind_loader_pending_executable(struct unwind_loader *loader,
							  const struct process *process,
							  uint64_t leaf, uint64_t address,
							  uint64_t now_ns)
{
	const struct mappings *mappings = process_mappings(process, leaf);
	const struct mapping *mapping = mappings ? mappings_find(mappings, address) : NULL;

	const struct executable *executable = mapping ? executable_of(mapping->executable) : NULL;

	if (!loader->processes || !executable)
		return NULL;
	want_table(loader, process, mapping, true, now_ns);
	return executable_is_pending(executable) || unwind_table_is_pending(&executable->unwind)
		       ? executable
		       : NULL;
}

/*
 * Report to programs that lists or tables changed. Released pages are reused in the round after
 * next at the earliest; by then every program that began before this update has ended.
 */
static void publish_generation(struct unwind_loader *loader)
{
	struct unwind_generation *generation = loader->generation;

	if (loader->lists.is_stale)
		__atomic_store_n(&generation->lists, generation->lists + 1, __ATOMIC_RELEASE);
	if (unwind_store_has_quarantined(&loader->store))
		__atomic_store_n(&generation->tables, generation->tables + 1, __ATOMIC_RELEASE);
	loader->lists.is_stale = false;
}

void unwind_loader_round(struct unwind_loader *loader)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (!loader->processes)
		return;
	if (executable_cache_receive(&loader->processes->executables))
		loader->tables.changed = true;
	unwind_store_round(&loader->store);
	unwind_slots_round(&loader->lists.slots);
	unwind_tables_round(&loader->tables, now_ns);
	unwind_lists_flush(&loader->lists);
	if (loader->lists.needs_pages)
		(void)unwind_tables_make_room(&loader->tables, UNWIND_SEGMENT_PAGES, UINT64_MAX,
					      now_ns);
	if (loader->tables.changed)
		unwind_lists_refresh(&loader->lists);
	loader->tables.changed = false;
	publish_generation(loader);
	unwind_store_unmap_idle(&loader->store);
}

void unwind_loader_close_unmapped(struct unwind_loader *loader)
{
	if (loader->processes)
		unwind_tables_close_unmapped(&loader->tables);
}

static const uint8_t *page_of(void *self, uint64_t number)
{
	struct unwind_loader *loader = self;

	if (number >= SCRATCH_PAGE && number - SCRATCH_PAGE < loader->scratch_pages)
		return (const uint8_t *)loader->scratch +
		       (number - SCRATCH_PAGE) * UNWIND_PAGE_BYTES;
	return number ? unwind_store_page(&loader->store, number) : NULL;
}

struct unwind_space unwind_loader_space(struct unwind_loader *loader)
{
	return (struct unwind_space){ .page = page_of, .self = loader };
}

bool unwind_loader_list(struct unwind_loader *loader, const struct process *process,
			uint64_t address, uint64_t *ret_place, uint32_t *ret_count)
{
	const struct mappings *mappings = process_mappings(process, address);

	if (!loader->processes || !mappings || !mappings->len)
		return false;

	size_t bytes = mappings->len * sizeof(struct unwind_mapping);
	size_t pages = (bytes + UNWIND_PAGE_BYTES - 1) / UNWIND_PAGE_BYTES;

	if (pages > loader->scratch_pages) {
		loader->scratch = heap_resize(loader->scratch, pages, UNWIND_PAGE_BYTES);
		loader->scratch_pages = pages;
	}
	unwind_lists_fill(mappings, loader->scratch);
	*ret_place = SCRATCH_PAGE * UNWIND_PAGE_BYTES;
	*ret_count = (uint32_t)mappings->len;
	return true;
}

void unwind_loader_measure(const struct unwind_loader *loader)
{
	const struct unwind_tables *from = &loader->tables;
	const struct unwind_lists *lists = &loader->lists;

	metric_set(&tables, (int64_t)from->loaded.len);
	metric_set(&waiting, (int64_t)(from->wanted.len + from->requested + from->fetched.len));
	metric_set(&table_bytes, (int64_t)(from->pages * UNWIND_PAGE_BYTES));
	metric_set(&list_bytes, (int64_t)(lists->slots.pages * UNWIND_PAGE_BYTES));
	metric_set(&map_bytes,
		   (int64_t)(loader->store.segments * UNWIND_SEGMENT_PAGES * UNWIND_PAGE_BYTES));
	metric_set(&loads, (int64_t)from->loads);
	metric_set(&evictions, (int64_t)from->evictions);
	for (size_t i = 0; i < OWNER_CLASS_COUNT; i++)
		metric_set_at(&refused, i, (int64_t)from->refused[i]);
	metric_set(&skipped, (int64_t)from->skipped);
	for (size_t i = 1; i < UNWIND_OUTCOME_COUNT; i++)
		metric_set_at(&errors, i - 1, (int64_t)from->outcomes[i]);
	metric_set(&listed, (int64_t)lists->processes);
	metric_set(&written, (int64_t)lists->written);
	metric_set(&lists_out, (int64_t)lists->evictions);
	metric_set(&lists_refused, (int64_t)lists->refused);
	metric_set(&failures, (int64_t)loader->store.failures);
}
