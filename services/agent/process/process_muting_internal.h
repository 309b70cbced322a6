// SPDX-License-Identifier: Apache-2.0
/*
 * process_muting - drops the map events of a process that makes too many mappings.
 *
 * A muted process is read from /proc when it is sampled. Agent thread only.
 */
#pragma once

#include "agent/process/process.h"

/* True while the map events of the process are dropped; the event is counted then. */
bool process_is_muted(struct process_table *table, struct process *process, uint64_t time_ns);

/*
 * Counts a map event, and mutes the process if it makes too many. The kernel reports a mapping also
 * when code is made executable, so a program that writes code may do it often.
 */
void process_mute_if_flooding(struct process_table *table, struct process *process,
			      const struct sideband_record *record);
