// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/process/process_muting_internal.h"
#include "base/clock.h"
#include "base/log.h"

enum { MAP_RECORD_BYTES = 104 }; /* without the path */

bool process_is_muted(struct process_table *table, struct process *process, uint64_t time_ns)
{
	if (time_ns >= process->muted_until_ns)
		return false;
	table->muted_events++;
	process->losses_seen = 0;
	return true;
}

void process_mute_if_flooding(struct process_table *table, struct process *process,
			      const struct sideband_record *record)
{
	uint64_t time_ns = record->time_ns, now_ms = time_ns / NS_PER_MS;

	if (time_ns >= process->maps_since_ns + NS_PER_SECOND) {
		process->maps_since_ns = time_ns;
		process->map_bytes = 0;
	}
	process->map_bytes += MAP_RECORD_BYTES + record->path.len;
	if (process->map_bytes <= MAP_BYTES_PER_SECOND_MAX)
		return;
	process->map_bytes = 0;
	process->muted_until_ns = time_ns + MUTED_MS * NS_PER_MS;
	if (table->muted_until_ns < process->muted_until_ns)
		table->muted_until_ns = process->muted_until_ns;
	table->muted_processes++;
	if (table->muting_logged_ms && now_ms - table->muting_logged_ms < MUTED_MS)
		return;
	table->muting_logged_ms = now_ms;
	log_warn("a process makes too many mappings, they are read from /proc", "pid=%u",
		 process->pid);
}
