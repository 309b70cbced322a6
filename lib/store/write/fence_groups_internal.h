// SPDX-License-Identifier: Apache-2.0
/*
 * fence_groups - the distinct hosts of a flush, and which parts are lost together.
 *
 * The counts of a host include all parts that reference the host. If one of these parts is lost,
 * the counts are wrong, so the other parts are lost as well, and with them the parts that share a
 * host with those. A group is a set of parts that are connected in this way. Pure; one thread; no
 * function fails.
 */
#pragma once

#include "store/write/writer.h"

struct fence_host {
	struct store_host *host; /* borrowed from the parts */
	size_t part;             /* index of one part that references the host */
};

struct fence_groups {
	/* Read freely. The distinct hosts of the parts that are not lost, sorted by name and epoch:
	 * two ingesters with the same hosts lock the rows in the same order and cannot deadlock. */
	struct fence_host *hosts;
	size_t host_count;
	/* private */
	size_t *parents; /* by part: a forest; the parts of one tree are one group */
	size_t part_count;
};

/* Overwrites *groups, in memory of the arena. The parts must outlive it. */
void fence_groups_init(struct fence_groups *groups, const struct store_flush_part *parts,
		       size_t count, struct arena *arena);

/* The entry of `hosts`; NULL: the flush does not have the host. */
const struct fence_host *fence_groups_host(const struct fence_groups *groups, str host,
					   uint64_t epoch);

/* Marks all parts of the group of parts[part] `lost`. Returns the number of parts that were not
 * marked before. */
size_t fence_groups_lose(struct fence_groups *groups, struct store_flush_part *parts, size_t part);
