// SPDX-License-Identifier: Apache-2.0
#include "agent/unwind/unwind_lists.h"

#include "agent/agent_limits.h"
#include "base/heap.h"

enum { PER_PAGE = UNWIND_PAGE_BYTES / sizeof(struct unwind_mapping), EVICTIONS_A_LIST = 16 };

void unwind_lists_init(struct unwind_lists *lists, struct unwind_store *store)
{
	*lists = (struct unwind_lists){ .store = store };
	TAILQ_INIT(&lists->by_sample);
	unwind_slots_init(&lists->slots, store, UNWIND_LISTS_BYTES_MAX);
}

/*
 * Address in memory - address as linked, by the code segment that lies in the mapped part of the
 * file. A page of the file may belong to two segments with different addresses.
 */
static uint64_t bias_of(const struct mapping *mapping)
{
	const struct executable *executable = executable_of(mapping->executable);
	uint64_t begin = mapping->file_offset;
	uint64_t end = begin + (mapping->end - mapping->start);

	for (size_t i = 0; i < executable->segment_count; i++) {
		const struct elf_segment *segment = &executable->segments[i];

		if (segment->executable && segment->offset < end &&
		    begin < segment->offset + segment->size)
			return mapping->start - begin + segment->offset - segment->address;
	}
	return mapping->start - begin;
}

/* Generated code: memory without a file, and files that are not ELF, as JIT compilers write. */
static bool is_generated(const struct executable *executable)
{
	return !executable || (!executable->build_id[0] && !executable->segment_count);
}

static uint32_t flags_of(const struct executable *executable)
{
	if (executable && executable_is_pending(executable))
		return UNWIND_MAPPING_AWAITED;
	if (is_generated(executable))
		return UNWIND_MAPPING_ANONYMOUS;
	return unwind_table_is_pending(&executable->unwind) ? UNWIND_MAPPING_AWAITED : 0;
}

static uint32_t table_of(const struct executable *executable)
{
	return executable && executable->segment_count ? executable->unwind.page : 0;
}

static struct unwind_mapping make(const struct mapping *mapping)
{
	const struct executable *executable = executable_of(mapping->executable);

	return (struct unwind_mapping){
		.start = mapping->start,
		.end = mapping->end,
		.bias = executable ? bias_of(mapping) : 0,
		.table = table_of(executable),
		.flags = flags_of(executable),
	};
}

void unwind_lists_fill(const struct mappings *mappings, struct unwind_mapping *to)
{
	for (size_t i = 0; i < mappings->len; i++)
		to[i] = make(&mappings->items[i]);
}

/* The i-th entry of a list in the pages; NULL: the page cannot be mapped. */
static struct unwind_mapping *at(struct unwind_lists *lists, const struct unwind_list *list,
				 size_t i)
{
	uint64_t place = list->slot.place + i * sizeof(struct unwind_mapping);
	uint8_t *page = unwind_store_page(lists->store, place / UNWIND_PAGE_BYTES);

	return page ? (struct unwind_mapping *)(void *)(page + place % UNWIND_PAGE_BYTES) : NULL;
}

/* The number of entries from the i-th on that lie in the same page. */
static size_t run_of(const struct unwind_list *list, size_t i)
{
	size_t before = list->slot.place % UNWIND_PAGE_BYTES / sizeof(struct unwind_mapping) + i;
	size_t run = PER_PAGE - before % PER_PAGE;

	return run < list->count - i ? run : list->count - i;
}

static void drop_list(struct unwind_lists *lists, struct unwind_list *list)
{
	unwind_slots_release(&lists->slots, list->slot);
	list->slot = (struct unwind_slot){ 0 };
	list->count = 0;
}

static uint32_t bytes_of(const struct process_image *image)
{
	return (uint32_t)(image->mappings.len * sizeof(struct unwind_mapping));
}

static bool write_list(struct unwind_lists *lists, struct process_image *image)
{
	struct unwind_list *list = &image->list;
	const struct mappings *mappings = &image->mappings;

	list->slot = unwind_slots_alloc(&lists->slots, bytes_of(image));
	if (!list->slot.place) {
		lists->refused++;
		return false;
	}
	list->count = (uint32_t)mappings->len;
	for (size_t i = 0; i < mappings->len;) {
		struct unwind_mapping *to = at(lists, list, i);
		size_t run = run_of(list, i);

		if (!to) {
			lists->refused++;
			drop_list(lists, list);
			return false;
		}
		for (size_t k = 0; k < run; k++)
			to[k] = make(&mappings->items[i + k]);
		i += run;
	}
	lists->written++;
	return true;
}

static void release_image(struct unwind_lists *lists, struct process_image *image)
{
	if (!--image->list.users)
		drop_list(lists, &image->list);
	process_image_release(image);
}

static void unlist(struct unwind_lists *lists, struct process *process)
{
	const struct unwind_memory *memory = &lists->store->memory;

	if (!process->listing.image)
		return;
	memory->drop_process(memory->self, process->pid);
	lists->is_stale = true;
	TAILQ_REMOVE(&lists->by_sample, process, listing.by_sample);
	release_image(lists, TAKE(process->listing.image));
	lists->processes--;
}

static bool evict_oldest(struct unwind_lists *lists, const struct process *but)
{
	struct process *oldest = TAILQ_LAST(&lists->by_sample, processes_by_sample);

	if (!oldest || oldest == but)
		return false;
	unlist(lists, oldest);
	lists->evictions++;
	return true;
}

static bool publish(struct unwind_lists *lists, const struct process *process)
{
	const struct unwind_memory *memory = &lists->store->memory;
	const struct unwind_list *list = &process->image->list;
	struct unwind_process value = { .start_ns = process->start_ns,
					.exec_id = process->exec_id,
					.place = list->slot.place,
					.count = list->count,
					.flags = process->is_recently_remapped
							 ? UNWIND_PROCESS_REMAPPED
							 : 0 };

	do {
		if (memory->put_process(memory->self, process->pid, &value))
			return true;
	} while (evict_oldest(lists, process));
	return false;
}

/*
 * Evict lists for a process that found no room. Evicted slots are quarantined first, so a later
 * sample of the process will find the room. If the lists are below their own limit, the tables fill
 * the memory, and a table has to be evicted instead.
 */
static void make_room(struct unwind_lists *lists, const struct process *process)
{
	if (unwind_slots_has_quarantined(&lists->slots))
		return;
	if (!unwind_slots_is_full(&lists->slots, bytes_of(process->image)))
		lists->needs_pages = true;
	for (int i = 0; !lists->needs_pages && i < EVICTIONS_A_LIST && evict_oldest(lists, process);
	     i++)
		;
}

static void list_process(struct unwind_lists *lists, struct process *process)
{
	struct unwind_listing *listing = &process->listing;
	struct process_image *image = process->image;

	if (process->exited || !image || !image->mappings.len || !process->exec_id_known ||
	    !process->start_ns || unwind_lists_has(process))
		return;
	if (!image->list.slot.place && !write_list(lists, image)) {
		make_room(lists, process);
		return;
	}
	image->list.users++;
	if (!publish(lists, process)) {
		lists->refused++;
		if (!--image->list.users)
			drop_list(lists, &image->list);
		return;
	}
	if (listing->image) {
		lists->is_stale = true;
		release_image(lists, TAKE(listing->image));
	} else {
		TAILQ_INSERT_HEAD(&lists->by_sample, process, listing.by_sample);
		lists->processes++;
	}
	listing->image = process_image_reference(image);
	listing->start_ns = process->start_ns;
	listing->exec_id = process->exec_id;
	listing->recently_remapped = process->is_recently_remapped;
}

bool unwind_lists_has(const struct process *process)
{
	const struct unwind_listing *listing = &process->listing;

	return listing->image && listing->image == process->image &&
	       listing->start_ns == process->start_ns && listing->exec_id == process->exec_id &&
	       listing->recently_remapped == process->is_recently_remapped;
}

static void add_pending(struct unwind_lists *lists, struct process *process)
{
	if (process->listing.is_pending)
		return;
	if (lists->pending_len == lists->pending_cap) {
		lists->pending_cap = lists->pending_cap ? lists->pending_cap * 2 : 32;
		lists->pending =
			heap_resize(lists->pending, lists->pending_cap, sizeof(struct process *));
	}
	lists->pending[lists->pending_len++] = process;
	process->listing.is_pending = true;
}

void unwind_lists_sampled(struct unwind_lists *lists, struct process *process)
{
	if (!unwind_lists_has(process))
		add_pending(lists, process);
	if (process->listing.image) {
		TAILQ_REMOVE(&lists->by_sample, process, listing.by_sample);
		TAILQ_INSERT_HEAD(&lists->by_sample, process, listing.by_sample);
	}
}

void unwind_lists_changed(struct unwind_lists *lists, struct process *process)
{
	if (process->listing.image)
		add_pending(lists, process);
}

void unwind_lists_forget(struct unwind_lists *lists, struct process *process)
{
	unlist(lists, process);
	if (!process->listing.is_pending)
		return;
	process->listing.is_pending = false;
	for (size_t i = 0; i < lists->pending_len; i++)
		if (lists->pending[i] == process) {
			lists->pending[i] = lists->pending[--lists->pending_len];
			return;
		}
}

void unwind_lists_flush(struct unwind_lists *lists)
{
	lists->needs_pages = false;
	for (size_t i = 0; i < lists->pending_len; i++) {
		lists->pending[i]->listing.is_pending = false;
		list_process(lists, lists->pending[i]);
	}
	lists->pending_len = 0;
}

/* A table's pages were written before its number, so a program that reads the number finds them. */
static void refresh_list(struct unwind_lists *lists, struct process_image *image)
{
	struct unwind_list *list = &image->list;
	const struct mapping *mappings = image->mappings.items;

	for (size_t i = 0; i < list->count;) {
		struct unwind_mapping *to = at(lists, list, i);
		size_t run = run_of(list, i);

		for (size_t k = 0; to && k < run; k++) {
			struct unwind_mapping now = make(&mappings[i + k]);

			if (to[k].table == now.table && to[k].flags == now.flags)
				continue;
			/* the segments may have been read since it was written */
			to[k].bias = now.bias;
			__atomic_store_n(&to[k].flags, now.flags, __ATOMIC_RELAXED);
			__atomic_store_n(&to[k].table, now.table, __ATOMIC_RELEASE);
			lists->is_stale = true;
		}
		i += run;
	}
}

void unwind_lists_refresh(struct unwind_lists *lists)
{
	struct process *process;

	lists->refreshes++;
	TAILQ_FOREACH(process, &lists->by_sample, listing.by_sample) {
		struct process_image *image = process->listing.image;

		if (image->list.seen == lists->refreshes)
			continue;
		image->list.seen = lists->refreshes;
		refresh_list(lists, image);
	}
}

void unwind_lists_done(struct unwind_lists *lists)
{
	if (!lists->store)
		return;
	while (evict_oldest(lists, NULL))
		;
	free(lists->pending);
	unwind_slots_done(&lists->slots);
	*lists = (struct unwind_lists){ 0 };
}
