// SPDX-License-Identifier: Apache-2.0
#include "agent/capture/brief_processes_internal.h"
#include "base/hash.h"

static uint64_t hash_of(uint32_t pid)
{
	return hash_seeded_u64(pid, hash_seed());
}

static struct brief_process *find(const struct brief_processes *brief, uint32_t pid)
{
	return index_find(&brief->by_pid, hash_of(pid), each, each.pid == pid);
}

void brief_processes_start(struct brief_processes *brief, const struct sideband_record *record)
{
	if (record->type != SIDEBAND_FORK || record->pid == record->parent_pid)
		return;

	struct brief_process *process = index_at(brief->arena, &brief->by_pid, hash_of(record->pid),
						 each, each.pid == record->pid);

	process->pid = record->pid;
	process->parent_pid = record->parent_pid;
	process->started_ns = record->time_ns;
	process->forks++;
	process->threads++;
}

void brief_processes_end(struct brief_processes *brief, const struct sideband_record *record)
{
	bool is_thread = record->type == SIDEBAND_FORK && record->pid == record->parent_pid;

	if (!is_thread && record->type != SIDEBAND_EXIT)
		return;

	struct brief_process *process = find(brief, record->pid);

	if (!process || record->time_ns < process->started_ns) /* of an earlier process */
		return;
	process->threads += is_thread;
	process->exits += !is_thread;
}

void brief_processes_need(struct brief_processes *brief, uint32_t pid)
{
	struct brief_process *process = find(brief, pid);

	if (process)
		process->is_needed = true;
}

/* A pid with two forks was reused: its events are of two processes. */
static bool is_brief(const struct brief_process *process)
{
	return !process->is_needed && process->forks == 1 && process->exits == process->threads;
}

void brief_processes_decide(struct brief_processes *brief)
{
	index_for_each(&brief->by_pid, process) {
		if (is_brief(process))
			continue;

		struct brief_process *parent = find(brief, process->parent_pid);

		while (parent && is_brief(parent)) {
			parent->is_needed = true;
			parent = find(brief, parent->parent_pid);
		}
	}
}

bool brief_processes_has(const struct brief_processes *brief, const struct sideband_record *record)
{
	const struct brief_process *process = find(brief, record->pid);

	return process && is_brief(process) && record->time_ns >= process->started_ns;
}
