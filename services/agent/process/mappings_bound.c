// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_limits.h"
#include "agent/process/mappings_bound_internal.h"
#include "agent/process/process_read_internal.h"
#include "base/clock.h"

/* Counts the mappings that are in memory: once in an image that processes share. */
static void count_mappings(struct process_table *table)
{
	table->mappings = 0;
	table->counts++;
	index_for_each(&table->by_pid, at) {
		struct process_image *image = (*at)->image;

		if (!image || image->counted == table->counts)
			continue;
		image->counted = table->counts;
		table->mappings += image->mappings.len;
	}
}

/* Drops large sets of mappings: first those of processes that were not sampled for a while. */
static void drop_mappings(struct process_table *table, uint64_t now_ms)
{
	for (uint64_t idle_ms = MAPPINGS_IDLE_MS;; idle_ms = 0) {
		count_mappings(table);
		if (table->mappings <= MAPPINGS_ALL_MAX * 3 / 4)
			return;
		index_for_each(&table->by_pid, at)
			if ((*at)->image && (*at)->image->mappings.len > MAPPINGS_FEW &&
			    now_ms - (*at)->sampled_ms >= idle_ms)
				process_forget_mappings(table, *at);
		if (!idle_ms)
			break;
	}
	count_mappings(table);
}

static uint64_t refused_executables(const struct process_table *table)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < OWNER_CLASS_COUNT; i++)
		sum += table->executables.places.refused[i];
	return sum;
}

/* True if the process was neither sampled nor started lately, and its owner has its share of the
 * executables. */
static bool is_to_give_way(const struct process_table *table, struct process *process,
			   uint64_t now_ms)
{
	return process->image && process_idle_ms(process, now_ms) >= MAPPINGS_IDLE_MS &&
	       !shares_has_room(&table->executables.places, owner_of_process(process),
				EXECUTABLES_SPARE);
}

/* Only the files of sampled processes are needed: the other processes of owners that have their
 * share lose theirs. Then processes that lack files are read again. */
static void release_files(struct process_table *table, uint64_t now_ms)
{
	index_for_each(&table->by_pid, at) {
		if (is_to_give_way(table, *at, now_ms))
			process_forget_mappings(table, *at);
		else if ((*at)->lacks_files)
			(*at)->losses_seen = 0;
	}
}

/* Processes that lack files are read again if there is room for them now. */
static void retry_files(struct process_table *table)
{
	index_for_each(&table->by_pid, at)
		if ((*at)->lacks_files && shares_has_room(&table->executables.places,
							  owner_of_process(*at), EXECUTABLES_SPARE))
			(*at)->losses_seen = 0;
}

/* If some files found no place: looks whether there is room, and makes room less often. */
static void hold_files(struct process_table *table, uint64_t now_ms)
{
	uint64_t refused = refused_executables(table);

	if (refused == table->refused || now_ms - table->retried_ms < FILES_RETRY_MS)
		return;
	table->retried_ms = now_ms;
	if (now_ms - table->released_ms < MAPPINGS_IDLE_MS) {
		retry_files(table);
		return;
	}
	table->refused = refused;
	table->released_ms = now_ms;
	release_files(table, now_ms);
}

void mappings_bound_hold(struct process_table *table, uint64_t now_ms)
{
	hold_files(table, now_ms);
	if (table->mappings > MAPPINGS_ALL_MAX * 3 / 4)
		drop_mappings(table, now_ms);
}

bool mappings_bound_has_room(struct process_table *table, const struct process *process)
{
	const struct process_image *image = process->image;
	size_t more = image && image->references > 1 ? image->mappings.len + 1 : 1;

	if (table->mappings + more > MAPPINGS_ALL_MAX)
		return false;
	table->mappings += more;
	return true;
}
