// SPDX-License-Identifier: Apache-2.0
#include "unwind_loader.h"

#include "agent_limits.h"
#include "base/clock.h"
#include "heap.h"

/* Beyond any page of the store: the list that was asked for last. */
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
	struct unwind_source source = unwind_builder_source(&loader->builder);

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

static void want(struct unwind_loader *loader, const struct process *process,
		 const struct mapping *mapping, bool is_needed, uint64_t now_ns)
{
	struct unwind_mapper mapper = { .pid = process->pid,
					.parent_pid = process->parent_pid,
					.start = mapping->start,
					.end = mapping->end,
					.is_needed = is_needed };

	if (mapping->executable && mapping->executable->unwind.state != UNWIND_TABLE_LOADED)
		unwind_tables_want(&loader->tables, mapping->executable, &mapper, now_ns);
}

/* All that it maps, when it is sampled first: each would wait for the next one's table otherwise.
 */
static void want_all(struct unwind_loader *loader, const struct process *process, uint64_t now_ns)
{
	const struct mappings *mappings = &process->image->mappings;

	process->image->list.wanted = true;
	for (size_t i = 0; i < mappings->len; i++)
		want(loader, process, &mappings->items[i], false, now_ns);
}

/* What its frames lie in: tables that had to leave, or that could not be had before. */
static void want_frames(struct unwind_loader *loader, const struct process *process,
			const struct sample_record *record)
{
	const uint64_t *user = record->frames + record->kernel_frames;
	const struct mappings *mappings = process_mappings(process, user[0]);

	for (size_t i = 0; mappings && i < record->user_frames; i++) {
		const struct mapping *mapping = mappings_find(mappings, user[i] - (i > 0));

		if (mapping)
			want(loader, process, mapping, true, record->time_ns);
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

const struct executable *unwind_loader_awaits(struct unwind_loader *loader,
					      const struct process *process, uint64_t leaf,
					      uint64_t address, uint64_t now_ns)
{
	const struct mappings *mappings = process_mappings(process, leaf);
	const struct mapping *mapping = mappings ? mappings_find(mappings, address) : NULL;

	if (!loader->processes || !mapping || !mapping->executable)
		return NULL;
	want(loader, process, mapping, true, now_ns);
	return unwind_table_is_coming(&mapping->executable->unwind) ? mapping->executable : NULL;
}

/*
 * What was given back is nobody's before the round after next: a program that began before it was
 * told is over by then.
 */
static void tell_generation(struct unwind_loader *loader)
{
	struct unwind_generation *told = loader->generation;

	if (loader->lists.is_stale)
		__atomic_store_n(&told->lists, told->lists + 1, __ATOMIC_RELEASE);
	if (unwind_store_is_resting(&loader->store))
		__atomic_store_n(&told->tables, told->tables + 1, __ATOMIC_RELEASE);
	loader->lists.is_stale = false;
}

void unwind_loader_round(struct unwind_loader *loader)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (!loader->processes)
		return;
	unwind_store_round(&loader->store);
	unwind_slots_round(&loader->lists.slots);
	unwind_tables_round(&loader->tables, now_ns);
	unwind_lists_flush(&loader->lists);
	if (loader->lists.is_short)
		(void)unwind_tables_make_room(&loader->tables, UNWIND_SEGMENT_PAGES, now_ns);
	if (loader->tables.changed)
		unwind_lists_refresh(&loader->lists);
	loader->tables.changed = false;
	tell_generation(loader);
	unwind_store_rest(&loader->store);
}

void unwind_loader_tidy(struct unwind_loader *loader)
{
	if (loader->processes)
		unwind_tables_let_go(&loader->tables);
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
