// SPDX-License-Identifier: GPL-2.0
/*
 * process_lookup - finds the process of a tick in the maps that the agent fills (unwind_maps.h).
 *
 * Defines the two maps and unwind_page(), by which the walk reads lists of mappings and tables. A
 * lookup returns NULL if the agent has not listed the process yet. The result belongs to the map,
 * or to the scratch of this CPU, and is valid during the tick.
 */
#pragma once

#include "kernel.h"
#include "sample_scratch.h"
#include "unwind_maps.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <linux/bpf.h>

struct unwind_segment {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_SEGMENT_PAGES);
	__uint(key_size, sizeof(uint32_t));
	__uint(value_size, UNWIND_PAGE_BYTES);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, UNWIND_SEGMENTS_MAX);
	__type(key, uint32_t);
	__array(values, struct unwind_segment);
} unwind_segments SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, UNWIND_PROCESSES_MAX);
	__type(key, uint32_t);
	__type(value, struct unwind_process);
} unwind_processes SEC(".maps");

static const uint8_t *unwind_page(struct unwind *walk, uint64_t number)
{
	uint32_t segment = (uint32_t)(number / UNWIND_SEGMENT_PAGES);
	uint32_t page = number % UNWIND_SEGMENT_PAGES;
	void *pages = bpf_map_lookup_elem(&unwind_segments, &segment);

	(void)walk;
	return pages ? bpf_map_lookup_elem(pages, &page) : NULL;
}

/* The entry of exactly this process and exec: a reused pid or another program has another entry. */
static __always_inline const struct unwind_process *
process_lookup_tgid(uint32_t tgid, uint64_t start_ns, uint64_t exec_id)
{
	const struct unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &tgid);

	if (!process || process->start_ns != start_ns || process->exec_id != exec_id)
		return NULL;
	return process;
}

/*
 * The entry of the parent, if the task runs in the parent's memory: a vfork child has no mappings
 * of its own before its exec. If the parent is not listed, out->owner_start_ns gets its start, so
 * that the agent can list it.
 */
static __always_inline const struct unwind_process *process_lookup_parent(struct sample_record *out,
									  struct task_struct *task)
{
	struct task_struct *parent = BPF_CORE_READ(task, group_leader, real_parent), *leader;

	if (BPF_CORE_READ(parent, mm) != BPF_CORE_READ(task, mm))
		return NULL;
	leader = BPF_CORE_READ(parent, group_leader);

	uint64_t start_ns = BPF_CORE_READ(leader, start_boottime);

	const struct unwind_process *process =
		process_lookup_tgid((uint32_t)BPF_CORE_READ(parent, tgid), start_ns,
				    BPF_CORE_READ(leader, self_exec_id));

	if (!process)
		out->owner_start_ns = start_ns;
	return process;
}

/* The entry of the task's process, else of its parent (process_lookup_parent()), else NULL. A copy
 * of the last entry is kept in the scratch: the next tick is often of the same process. */
static __always_inline const struct unwind_process *process_lookup(struct scratch *scratch,
								   struct task_struct *task)
{
	struct sample_record *out = &scratch->record;
	const struct unwind_process *process = &scratch->last.process;
	uint32_t lists = scratch->walk.generation.lists;

	if (scratch->last.tgid == out->tgid && scratch->last.generation == lists &&
	    process->start_ns == out->start_ns && process->exec_id == out->exec_id)
		return process;
	process = process_lookup_tgid(out->tgid, out->start_ns, out->exec_id);
	if (!process)
		return process_lookup_parent(out, task);
	scratch->last.tgid = out->tgid;
	scratch->last.generation = lists;
	scratch->last.process = *process;
	return process;
}
