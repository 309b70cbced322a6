// SPDX-License-Identifier: Apache-2.0
/*
 * mappings_bound - holds the mappings of all processes, and their files, within their bounds.
 *
 * The mappings of an image that processes share count once. The number is estimated as mappings are
 * added, and counted when it is three quarters of the bound. Then large sets are dropped; each is
 * read again from /proc when its process is sampled. The same is done with processes that are not
 * sampled if their owner has its share of the cache of executables. Agent thread only.
 */
#pragma once

#include "agent/process/process.h"

/* Called in each round: drops sets of mappings if all mappings, or their files, are too many. */
void mappings_bound_hold(struct process_table *table, uint64_t now_ms);

/* True if there is room for one more mapping of the process, and for the copy of a shared image.
 * The room is taken then. */
bool mappings_bound_has_room(struct process_table *table, const struct process *process);
