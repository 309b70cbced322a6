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
	process->is_owner_current = false;
	return true;
}

void process_note_mapping(struct process *process, const struct executable *executable, str path)
{
	bool is_file = executable_is_file(path);

	process->lacks_files |= !executable && is_file;
	/* Each process has [vsyscall]; [anon:...] is a name that it chose. */
	process->has_generated_code |= !executable && !is_file && !str_starts_with(path, STR("[v"));
}

static void add_mapping(struct process_table *table, struct process *process,
			struct process_image *image, const struct proc_map *line)
{
	struct executable_claim claim = { .pid = process->pid,
					  .parent_pid = process->parent_pid,
					  .start = line->start,
					  .end = line->end,
					  .path = line->path,
					  .inode = line->inode,
					  .device_major = line->device_major,
					  .device_minor = line->device_minor,
					  .process = process };
	struct mapping mapping = { .start = line->start,
				   .end = line->end,
				   .file_offset = line->file_offset,
				   .executable = executable_acquire(&table->executables, &claim) };

	process_note_mapping(process, mapping.executable, line->path);
	if (!mappings_insert(&image->mappings, mapping))
		table->mappings_over_limit++;
}

/* Adds the mappings of whole lines; returns how many bytes of a begun line are left, at the start.
 */
static size_t add_lines(struct process_table *table, struct process *process,
			struct process_image *image, char *bytes, size_t len)
{
	const char *end = memrchr(bytes, '\n', len);
	size_t whole = end ? (size_t)(end + 1 - bytes) : 0;
	str text = { bytes, whole };
	struct proc_map line;

	while (proc_maps_next(&text, &line))
		add_mapping(table, process, image, &line);
	memmove(bytes, bytes + whole, len - whole);
	return len - whole;
}

/* Reads mappings until `max` bytes of text are read. False: the reading hangs after *ret_total. */
static bool read_mappings(struct process_table *table, struct process *process,
			  struct process_image *image, size_t max, size_t *ret_total)
{
	char path[64], *bytes = arena_alloc(&table->scratch, 2 * PROC_READ_BYTES, 1, 1);
	uint64_t now_ms = table->budget.now_ns / NS_PER_MS;
	size_t len = 0;
	str piece = { 0 };

	snprintf(path, sizeof(path), "/proc/%u/maps", process->pid);
	proc_reader_open(&table->reader, path, process->pid, owner_of_process(process));
	*ret_total = 0;
	do {
		if (!proc_reader_next(&table->reader, &piece, now_ms))
			return false;
		memcpy(bytes + len, piece.ptr, piece.len);
		*ret_total += piece.len;
		len = add_lines(table, process, image, bytes, len + piece.len);
	} while (piece.len && *ret_total < max && len <= PROC_READ_BYTES);
	return true;
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
	bool may_be_large =
		read_budget_allows(&table->budget, READ_LARGE, owner_of_process(process));
	size_t max = may_be_large ? PROC_MAPS_BYTES_MAX : PROC_MAPS_SMALL_BYTES;
	struct process_image *image = process_image_new();
	str exe = proc_exe(&table->scratch, process->pid);
	size_t bytes;
	bool hangs;

	process->lacks_files = process->has_generated_code = false;
	hangs = !read_mappings(table, process, image, max, &bytes);
	image->exe = exe.len ? heap_str(exe) : NULL;
	process->is_large = hangs || bytes >= PROC_MAPS_SMALL_BYTES;
	table->maps_truncated += bytes >= PROC_MAPS_BYTES_MAX;
	arena_reset(&table->scratch);
	if (!hangs && (may_be_large || !process->is_large)) {
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

/* What is not known comes before what may have changed. */
static bool is_allowed(struct process_table *table, struct process *process, enum read_size size)
{
	struct share_owner owner = owner_of_process(process);

	return (process->image ? read_budget_allows_again(&table->budget, size, owner)
			       : read_budget_allows(&table->budget, size, owner)) &&
	       proc_reader_may_read(&table->reader, process->pid, owner,
				    table->budget.now_ns / NS_PER_MS);
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
	if (!process->cgroup) /* its files are those of its owner */
		(void)!process_read_cgroup(process);
	if (!is_allowed(table, process, size)) {
		table->postponed++;
		return false;
	}
	began_ns = clock_thread_cpu_ns() + table->reader.cpu_ns;
	process->read_ms = table->budget.now_ns / NS_PER_MS;
	ok = read_process(table, process, start_ns, &size);
	read_budget_charge(&table->budget, size, owner_of_process(process),
			   clock_thread_cpu_ns() + table->reader.cpu_ns - began_ns);
	return ok;
}

void process_forget_mappings(struct process_table *table, struct process *process)
{
	if (table->lists)
		unwind_lists_forget(table->lists, process);
	process_image_release(TAKE(process->image));
	process_image_release(TAKE(process->before));
	process->losses_seen = 0;
}

uint64_t process_idle_ms(const struct process *process, uint64_t now_ms)
{
	uint64_t exec_ms = process->exec_ns / NS_PER_MS;
	uint64_t used_ms = exec_ms > process->sampled_ms ? exec_ms : process->sampled_ms;

	return now_ms > used_ms ? now_ms - used_ms : 0;
}
