// SPDX-License-Identifier: Apache-2.0
#include "agent/process/process.h"

#include "agent/agent_limits.h"
#include "agent/process/mappings_bound_internal.h"
#include "agent/process/process_muting_internal.h"
#include "agent/process/process_read_internal.h"
#include "agent/unwind/unwind_lists.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/heap.h"

#include <errno.h>
#include <signal.h>

static uint64_t hash_of(uint32_t pid)
{
	return hash_seeded_u64(pid, hash_seed());
}

static struct process *find(struct process_table *table, uint32_t pid)
{
	struct process **found = index_find(&table->by_pid, hash_of(pid), each, each->pid == pid);

	return found ? *found : NULL;
}

static void forget_all(struct process_table *table, struct process *process)
{
	if (table->lists)
		unwind_lists_forget(table->lists, process);
	process_image_release(TAKE(process->image));
	process_image_release(TAKE(process->before));
	process_cgroup_release(TAKE(process->cgroup));
}

static void reset(struct process_table *table, struct process *process)
{
	uint32_t pid = process->pid;

	forget_all(table, process);
	memset(process, 0, sizeof(*process));
	process->pid = pid;
	process->threads = 1;
}

static struct process *find_or_add(struct process_table *table, uint32_t pid)
{
	struct process *process = find(table, pid);

	if (process)
		return process;
	if (table->by_pid.len >= PROCESSES_MAX) {
		table->over_limit++;
		return NULL;
	}

	process = heap_new(struct process);
	process->pid = pid;
	process->threads = 1;
	*index_at(NULL, &table->by_pid, hash_of(pid), each, each->pid == pid) = process;
	return process;
}

/* A process that the first scan has not reached is read now, because only its changes are known. */
static struct process *find_or_read(struct process_table *table, uint32_t pid)
{
	struct process *process = find(table, pid);

	if (process)
		return process;
	process = find_or_add(table, pid);
	if (process && table->first_scan)
		(void)!process_read(table, process, 0);
	return process;
}

/* The pid of the next process in /proc; 0: there are no more. */
static uint32_t next_pid(DIR *directory)
{
	const struct dirent *entry;
	uint64_t pid;

	while ((entry = readdir(directory))) /* NOLINT(concurrency-mt-unsafe): ours */
		if (str_to_u64(str_from(entry->d_name), &pid) && pid && pid <= UINT32_MAX)
			return (uint32_t)pid;
	return 0;
}

static void end_first_scan(struct process_table *table)
{
	if (table->first_scan)
		closedir(TAKE(table->first_scan));
}

void process_table_first_scan(struct process_table *table)
{
	table->first_scan = opendir("/proc");
}

void process_table_scan_more(struct process_table *table, size_t count)
{
	for (; table->first_scan && count && read_budget_is_plenty(&table->budget, READ_SMALL);
	     count--) {
		uint32_t pid = next_pid(table->first_scan);

		if (pid)
			(void)find_or_read(table, pid);
		else
			end_first_scan(table);
	}
}

void process_table_expect(struct process_table *table, const struct sample_record *record)
{
	if (table->first_scan && !(record->flags & SAMPLE_KERNEL_THREAD))
		(void)find_or_read(table, record->tgid);
}

bool process_table_is_crowded(const struct process_table *table)
{
	return table->by_pid.len > PROCESSES_MAX / 4 * 3;
}

void process_table_sweep(struct process_table *table)
{
	uint64_t now_ns = clock_monotonic_ns();
	bool is_crowded = process_table_is_crowded(table);

	index_for_each(&table->by_pid, at) {
		struct process *process = *at;
		bool is_idle = is_crowded &&
			       process_idle_ms(process, now_ns / NS_PER_MS) >= PROCESSES_IDLE_MS;

		if (process->exited ||
		    (!is_idle && (kill((pid_t)process->pid, 0) == 0 || errno != ESRCH)))
			continue;
		process->exited = true;
		process->exited_ns = now_ns;
	}
}

void process_table_lost(struct process_table *table)
{
	table->losses++;
}

void process_table_begin_round(struct process_table *table, uint64_t now_ns)
{
	read_budget_refill(&table->budget, now_ns);
	mappings_bound_hold(table, now_ns / NS_PER_MS);
}

static void apply_fork(struct process_table *table, const struct sideband_record *record)
{
	struct process *parent = find(table, record->parent_pid);

	if (record->pid == record->parent_pid) { /* a thread */
		if (parent)
			parent->threads++;
		return;
	}
	if (table->first_scan)
		parent = find_or_read(table, record->parent_pid);

	struct process *child = find_or_add(table, record->pid);

	if (!child)
		return;
	reset(table, child);
	child->parent_pid = record->parent_pid;
	child->exec_ns = record->time_ns;
	if (!parent)
		return;
	child->losses_seen = parent->losses_seen;
	child->is_large = parent->is_large;
	child->lacks_files = parent->lacks_files;
	child->has_generated_code = parent->has_generated_code;
	child->map_bytes = parent->map_bytes;
	child->maps_since_ns = parent->maps_since_ns;
	child->muted_until_ns = parent->muted_until_ns;
	child->image = process_image_reference(parent->image);
	child->cgroup = process_cgroup_reference(parent->cgroup);
	child->owner = parent->owner;
	child->is_owner_current = parent->is_owner_current;
	child->exec_id = parent->exec_id;
	child->exec_id_known = parent->exec_id_known;
}

/* An exec ends the other threads and all mappings; cgroup and parent stay. */
static void apply_exec(struct process_table *table, const struct sideband_record *record)
{
	struct process *process = find_or_read(table, record->pid);

	if (!process)
		return;
	process_image_release(process->before);
	process->before = process->image;
	process->image = process_image_new();
	process->image->exe = executable_is_file(record->path)
				      ? heap_str(executable_path_of(record->path))
				      : NULL;
	memcpy(process->comm, record->comm, sizeof(process->comm));
	process->threads = 1;
	process->exec_id++;
	process->exec_ns = record->time_ns;
	process->cgroup_read_ms = 0;
	process->is_owner_current = false;
	process->losses_seen = table->losses;
	process->is_large = process->lacks_files = process->has_generated_code = false;
	if (table->lists)
		unwind_lists_changed(table->lists, process);
}

static void apply_exit(struct process_table *table, const struct sideband_record *record)
{
	struct process *process = find(table, record->pid);

	if (!process || process->exited || (process->threads && --process->threads))
		return;
	process->exited = true;
	process->exited_ns = record->time_ns;
}

static void add_mapping(struct process_table *table, struct process *process,
			const struct mapping *mapping, uint64_t time_ns)
{
	struct process_image *image = process_image_own(&process->image);

	if (mappings_replaces_code(&image->mappings, mapping)) {
		process->is_recently_remapped = true;
		process->remapped_ns = time_ns;
	}
	image->list.wanted = false;
	if (!mappings_insert(&image->mappings, *mapping))
		table->mappings_over_limit++;
	if (table->lists)
		unwind_lists_changed(table->lists, process);
}

bool process_table_takes(struct process_table *table, const struct sideband_record *record)
{
	if (record->type != SIDEBAND_MAP || record->time_ns >= table->muted_until_ns)
		return true;

	struct process *process = find(table, record->pid);

	return !process || process->exited || !process_is_muted(table, process, record->time_ns);
}

static void apply_map(struct process_table *table, const struct sideband_record *record)
{
	struct process *process = find_or_read(table, record->pid);
	uint64_t end;

	if (!process || __builtin_add_overflow(record->address, record->length, &end) ||
	    process_is_muted(table, process, record->time_ns))
		return;
	process_mute_if_flooding(table, process, record);
	if (!mappings_bound_has_room(table, process)) {
		table->mappings_over_limit++;
		process->losses_seen = 0;
		return;
	}

	str path = executable_path_of(record->path);
	struct executable_claim claim = {
		.pid = record->pid,
		.parent_pid = process->parent_pid,
		.start = record->address,
		.end = end,
		.path = path,
		.build_id = { (const char *)record->build_id, record->build_id_len },
		.inode = record->inode,
		.device_major = record->device_major,
		.device_minor = record->device_minor,
		.process = process,
	};
	struct mapping mapping = {
		.start = record->address,
		.end = end,
		.file_offset = record->file_offset,
		.executable = executable_acquire(&table->executables, &claim),
	};

	process_note_mapping(process, mapping.executable, path);
	add_mapping(table, process, &mapping, record->time_ns);
	/* The first file mapped is the program, then comes its loader. */
	if (!process->image->exe && executable_is_file(path))
		process->image->exe = heap_str(path);
}

void process_table_apply(struct process_table *table, const struct sideband_record *record)
{
	switch (record->type) {
	case SIDEBAND_FORK:
		apply_fork(table, record);
		break;
	case SIDEBAND_EXEC:
		apply_exec(table, record);
		break;
	case SIDEBAND_EXIT:
		apply_exit(table, record);
		break;
	case SIDEBAND_MAP:
		apply_map(table, record);
		break;
	case SIDEBAND_KSYMBOL:
	case SIDEBAND_LOST:
	case SIDEBAND_OTHER:
	case SIDEBAND_TYPE_COUNT:
		break;
	}
}

static bool same_start(const struct process *process, uint64_t start_ns)
{
	if (process->start_ns)
		return process->start_ns == start_ns;
	if (process->start_ticks)
		return process_started_at(process->start_ticks, start_ns);
	return true; /* known by its fork event: the first sample sets the start */
}

/*
 * True if changes of the process may be unknown, and it was not read from /proc lately. There is no
 * event of mremap() nor of munmap(): generated code can be moved to where a closed library was.
 */
static bool is_due(const struct process_table *table, const struct process *process)
{
	uint64_t now_ms = table->budget.now_ns / NS_PER_MS;
	uint64_t age_ms = process->read_ms ? now_ms - process->read_ms : UINT64_MAX;

	if (process->exited)
		return false;
	return (process->losses_seen < table->losses && age_ms >= READ_AGAIN_MS) ||
	       (process->has_generated_code && age_ms >= READ_GENERATED_MS);
}

/*
 * Makes sure that the entry is the process and program of the sample. If events were lost it may
 * not be; then /proc is read, and used only if it shows the same start.
 */
static void identify(struct process_table *table, struct process *process, bool is_new,
		     const struct sample_record *record)
{
	bool same = !is_new && same_start(process, record->start_ns);
	bool exec_missed = same && process->exec_id_known && record->exec_id > process->exec_id;

	if (!is_new && !same) {
		table->reused++;
		reset(table, process);
	}
	if (!same || exec_missed || !process->comm[0])
		memcpy(process->comm, record->comm, sizeof(process->comm));
	if (exec_missed) /* no name is better than a name of the program before */
		process_forget_mappings(table, process);
	if (!(record->flags & SAMPLE_KERNEL_THREAD) &&
	    (!same || exec_missed || is_due(table, process)))
		(void)!process_read(table, process, record->start_ns);
	process->start_ns = record->start_ns;
	if (!process->exec_id_known || exec_missed || !same) {
		process->exec_id = record->exec_id;
		process->exec_id_known = true;
	}
}

/*
 * A cgroup is inherited and changes seldom; the owner depends on it. It is read at the first
 * sample, when the kernel reports another id, and every CGROUP_REFRESH_MS, because with cgroup v1
 * the id does not change. A process that is gone gets the cgroup of its parent.
 */
static void refresh_cgroup(struct process_table *table, struct process *process,
			   const struct sample_record *record, uint64_t now_ms)
{
	bool fresh = process->cgroup_read_ms && process->cgroup_id == record->cgroup_id &&
		     now_ms - process->cgroup_read_ms < CGROUP_REFRESH_MS;

	if (fresh || (record->flags & SAMPLE_KERNEL_THREAD))
		return;
	process->cgroup_read_ms = now_ms;
	process->cgroup_id = record->cgroup_id;
	process->is_owner_current = false;
	if (!process->exited && process_read_cgroup(process))
		return;

	struct process *parent = find(table, process->parent_pid);

	if (!parent)
		return;
	if (!parent->cgroup_read_ms && !parent->exited) {
		parent->cgroup_read_ms = now_ms;
		parent->cgroup_id = record->cgroup_id;
		(void)!process_read_cgroup(parent);
	}
	if (parent->cgroup) {
		process_cgroup_release(TAKE(process->cgroup));
		process->cgroup = process_cgroup_reference(parent->cgroup);
	}
}

struct process *process_of_sample(struct process_table *table, const struct sample_record *record,
				  uint64_t now_ms)
{
	struct process *process = find(table, record->tgid);
	bool is_new = !process;

	if (is_new)
		process = find_or_add(table, record->tgid);
	if (!process)
		return NULL;
	identify(table, process, is_new, record);
	process->sampled_ms = now_ms;
	if (process->is_recently_remapped &&
	    record->time_ns > process->remapped_ns + REMAPPED_MS * NS_PER_MS)
		process->is_recently_remapped = false;
	refresh_cgroup(table, process, record, now_ms);
	if (!(record->flags & SAMPLE_KERNEL_THREAD))
		(void)owner_of_process(process);
	return process;
}

struct process *process_owner(struct process_table *table, const struct process *process,
			      const struct sample_record *record)
{
	struct process *owner = record->owner_start_ns ? find(table, process->parent_pid) : NULL;

	if (!owner || owner->exited || !same_start(owner, record->owner_start_ns))
		return NULL;
	owner->start_ns = record->owner_start_ns;
	if (!owner->exec_id_known) {
		owner->exec_id = record->exec_id; /* inherited */
		owner->exec_id_known = true;
	}
	return owner;
}

const struct mappings *process_mappings(const struct process *process, uint64_t address)
{
	if (!process->image)
		return NULL;
	if (process->before && !mappings_find(&process->image->mappings, address) &&
	    mappings_find(&process->before->mappings, address))
		return &process->before->mappings;
	return &process->image->mappings;
}

/* Releases an image that ended before before_ns. False: the process itself did, and is freed. */
static bool outlives(struct process_table *table, struct process *process, uint64_t before_ns)
{
	if (process->before && process->exec_ns < before_ns)
		process_image_release(TAKE(process->before));
	if (!process->exited || process->exited_ns >= before_ns)
		return true;
	forget_all(table, process);
	free(process);
	return false;
}

void process_table_retire(struct process_table *table, uint64_t before_ns)
{
	index_keep(&table->by_pid, each, outlives(table, each, before_ns));
}

uint64_t process_table_mappings(const struct process_table *table)
{
	uint64_t count = 0;

	index_for_each(&table->by_pid, at)
		count += (*at)->image ? (*at)->image->mappings.len : 0;
	return count;
}

void process_table_init(struct process_table *table)
{
	*table = (struct process_table){ .losses = 1 };
	read_budget_refill(&table->budget, clock_monotonic_ns());
	executable_cache_init(&table->executables);
}

void process_table_done(struct process_table *table)
{
	index_for_each(&table->by_pid, at) {
		forget_all(table, *at);
		free(*at);
	}
	index_done(&table->by_pid);
	end_first_scan(table);
	proc_reader_done(&table->reader);
	executable_cache_done(&table->executables);
	arena_free(&table->scratch);
	*table = (struct process_table){ 0 };
}
