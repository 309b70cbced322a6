// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/process/proc_internal.h"
#include "agent/process/proc_maps_internal.h"
#include "agent/process/process_read_internal.h"
#include "agent/unwind/unwind_lists.h"
#include "base/clock.h"
#include "base/heap.h"

void process_map(struct process_table *table, struct process *process, struct mapping mapping)
{
	struct process_image *image = process_image_own(&process->image);

	image->list.wanted = false;
	if (!mappings_insert(&image->mappings, mapping))
		table->mappings_over_limit++;
	if (table->lists)
		unwind_lists_changed(table->lists, process);
}

bool process_read_cgroup(struct process *process)
{
	AUTO_ARENA arena = { 0 };
	str text = proc_read(&arena, process->pid, "cgroup", PROC_FILE_BYTES_MAX);

	if (!text.len)
		return false;
	if (process->cgroup && str_eq(text, str_from(process->cgroup->text)))
		return true;
	process_cgroup_release(TAKE(process->cgroup));
	process->cgroup = process_cgroup_new(text);
	return true;
}

static void read_mappings(struct process_table *table, struct process *process)
{
	str text = proc_read(&table->scratch, process->pid, "maps", PROC_MAPS_BYTES_MAX);
	struct proc_map line;

	table->maps_truncated += text.len >= PROC_MAPS_BYTES_MAX;
	while (proc_maps_next(&text, &line)) {
		struct executable_claim claim = { .pid = process->pid,
						  .parent_pid = process->parent_pid,
						  .start = line.start,
						  .end = line.end,
						  .path = line.path,
						  .inode = line.inode,
						  .device_major = line.device_major,
						  .device_minor = line.device_minor };

		process_map(table, process,
			    (struct mapping){ .start = line.start,
					      .end = line.end,
					      .file_offset = line.file_offset,
					      .executable = executable_acquire(&table->executables,
									       &claim) });
	}
}

bool process_started_at(uint64_t start_ticks, uint64_t start_ns)
{
	return start_ticks == start_ns / (NS_PER_SECOND / PROC_TICKS_PER_SECOND);
}

bool process_read(struct process_table *table, struct process *process, uint64_t start_ns)
{
	struct proc_stat stat;

	table->scanned++;
	if (!proc_stat_read(process->pid, &stat) ||
	    (start_ns && !process_started_at(stat.start_ticks, start_ns)))
		return false;
	process->parent_pid = stat.parent_pid;
	process->threads = stat.threads;
	process->start_ticks = stat.start_ticks;
	process_image_release(TAKE(process->image));
	if (stat.kernel_thread)
		return true;
	process->image = process_image_new();

	str exe = proc_exe(&table->scratch, process->pid);

	process->image->exe = exe.len ? heap_str(exe) : NULL;
	read_mappings(table, process);
	arena_reset(&table->scratch);
	return true;
}
