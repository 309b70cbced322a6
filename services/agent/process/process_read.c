// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/process/proc_internal.h"
#include "agent/process/proc_maps_internal.h"
#include "agent/process/process_read_internal.h"
#include "agent/unwind/unwind_lists.h"
#include "base/clock.h"
#include "base/heap.h"

#include <fcntl.h>
#include <stdio.h>

enum { LINES_BYTES = 64 << 10 }; /* more than the longest line, with each byte of a path escaped */

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

static void add_mapping(struct process_table *table, const struct process *process,
			struct process_image *image, const struct proc_map *line)
{
	struct executable_claim claim = { .pid = process->pid,
					  .parent_pid = process->parent_pid,
					  .start = line->start,
					  .end = line->end,
					  .path = line->path,
					  .inode = line->inode,
					  .device_major = line->device_major,
					  .device_minor = line->device_minor };
	struct mapping mapping = { .start = line->start,
				   .end = line->end,
				   .file_offset = line->file_offset,
				   .executable = executable_acquire(&table->executables, &claim) };

	if (!mappings_insert(&image->mappings, mapping))
		table->mappings_over_limit++;
}

/* Reads mappings until `max` bytes of text are read. Returns how many bytes were read. */
static size_t read_mappings(struct process_table *table, const struct process *process,
			    struct process_image *image, size_t max)
{
	char path[64], *bytes = arena_alloc(&table->scratch, LINES_BYTES, 1, 1);
	size_t total = 0, len = 0;
	struct proc_map line;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/maps", process->pid);

	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && total < max && len < LINES_BYTES &&
	       (n = read(fd, bytes + len, LINES_BYTES - len)) > 0) {
		const char *end = memrchr(bytes + len, '\n', (size_t)n);

		total += (size_t)n;
		len += (size_t)n;
		if (!end)
			continue;

		str text = { bytes, (size_t)(end + 1 - bytes) };

		len -= text.len;
		while (proc_maps_next(&text, &line))
			add_mapping(table, process, image, &line);
		memmove(bytes, end + 1, len);
	}
	return total;
}

bool process_started_at(uint64_t start_ticks, uint64_t start_ns)
{
	return start_ticks == start_ns / (NS_PER_SECOND / PROC_TICKS_PER_SECOND);
}

static void replace_image(struct process_table *table, struct process *process,
			  struct process_image *image)
{
	if (process->image && mappings_equal(&process->image->mappings, &image->mappings) &&
	    str_eq(str_from(process->image->exe), str_from(image->exe))) {
		process_image_release(image);
		return;
	}
	process_image_release(process->image);
	process->image = image;
	table->mappings += image->mappings.len;
	if (table->lists)
		unwind_lists_changed(table->lists, process);
}

/* Returns the size of the process. */
static enum read_size read_image(struct process_table *table, struct process *process)
{
	bool may_be_large = read_budget_is_open(&table->budget, READ_LARGE);
	size_t max = may_be_large ? PROC_MAPS_BYTES_MAX : PROC_MAPS_SMALL_BYTES;
	struct process_image *image = process_image_new();
	str exe = proc_exe(&table->scratch, process->pid);
	size_t bytes = read_mappings(table, process, image, max);

	image->exe = exe.len ? heap_str(exe) : NULL;
	process->is_large = bytes >= PROC_MAPS_SMALL_BYTES;
	table->maps_truncated += bytes >= PROC_MAPS_BYTES_MAX;
	arena_reset(&table->scratch);
	if (may_be_large || !process->is_large) {
		process->losses_seen = table->losses;
		replace_image(table, process, image);
	} else {
		table->postponed++;
		if (process->image)
			process_image_release(image);
		else
			replace_image(table, process, image);
	}
	return may_be_large && process->is_large ? READ_LARGE : READ_SMALL;
}

static bool read_process(struct process_table *table, struct process *process, uint64_t start_ns,
			 enum read_size *size)
{
	struct proc_stat stat;

	table->scanned++;
	if (!proc_stat_read(process->pid, &stat) ||
	    (start_ns && !process_started_at(stat.start_ticks, start_ns))) {
		process->losses_seen = table->losses; /* gone: there is nothing more to know */
		return false;
	}
	process->parent_pid = stat.parent_pid;
	process->threads = stat.threads;
	process->start_ticks = stat.start_ticks;
	if (stat.kernel_thread) {
		process_image_release(TAKE(process->image));
		process->losses_seen = table->losses;
		return true;
	}
	*size = read_image(table, process);
	return true;
}

bool process_read(struct process_table *table, struct process *process, uint64_t start_ns)
{
	enum read_size size = process->is_large ? READ_LARGE : READ_SMALL;
	uint64_t began_ns;
	bool ok;

	process->losses_seen = 0;
	if (!read_budget_is_open(&table->budget, size)) {
		table->postponed++;
		return false;
	}
	began_ns = clock_thread_cpu_ns();
	process->read_ms = table->budget.refilled_ns / NS_PER_MS;
	ok = read_process(table, process, start_ns, &size);
	read_budget_charge(&table->budget, size, clock_thread_cpu_ns() - began_ns);
	return ok;
}
