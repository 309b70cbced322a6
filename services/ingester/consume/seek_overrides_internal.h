// SPDX-License-Identifier: Apache-2.0
/*
 * seek_overrides - where to start partitions whose stored offset is not one of the topic.
 *
 *     table:  partition 3, next 42, of the topic that was deleted
 *     topic:  [0 1 2 ... 17]                     override: 3, replaces 42, starts at 0
 *
 * An override belongs to the row of the table that it replaces. It holds for each restart of
 * reading until that row changes: either because this ingester has stored an offset of the new
 * topic, or because another one has. At most one for each partition. The memory is freed by
 * seek_overrides_done(). The functions cannot fail. Consumer thread only.
 */
#pragma once

#include "base/vec.h"
#include "store/write/writer.h"

struct seek_override {
	int32_t partition;
	int64_t offset;
	int64_t replaced_next, replaced_timestamp_ms; /* of the row in the table */
};

struct seek_overrides {
	/* private */
	struct arena arena;
	VEC(struct seek_override) items;
};

/* Starts the partition of `stored`, a row of the table, at `offset`. Replaces an earlier override.
 */
void seek_overrides_set(struct seek_overrides *overrides, const struct store_offset *stored,
			int64_t offset);

/* The offset that replaces this row of the table; -1: none. An override of another row of the same
 * partition is removed. */
int64_t seek_overrides_find(struct seek_overrides *overrides, const struct store_offset *stored);

/* Call it when an offset of the partition was stored. Accepts a partition without override. */
void seek_overrides_remove(struct seek_overrides *overrides, int32_t partition);

/* Frees the memory. Accepts {0}. */
void seek_overrides_done(struct seek_overrides *overrides);
