// SPDX-License-Identifier: Apache-2.0
#include "ingester/consume/seek_overrides_internal.h"

void seek_overrides_remove(struct seek_overrides *overrides, int32_t partition)
{
	size_t kept = 0;

	for (size_t i = 0; i < overrides->items.len; i++)
		if (overrides->items.items[i].partition != partition)
			overrides->items.items[kept++] = overrides->items.items[i];
	overrides->items.len = kept;
}

void seek_overrides_set(struct seek_overrides *overrides, const struct store_offset *stored,
			int64_t offset)
{
	seek_overrides_remove(overrides, stored->partition);
	*vec_push(&overrides->arena, &overrides->items) = (struct seek_override){
		.partition = stored->partition,
		.offset = offset,
		.replaced_next = stored->next,
		.replaced_timestamp_ms = stored->last_timestamp_ms,
	};
}

int64_t seek_overrides_find(struct seek_overrides *overrides, const struct store_offset *stored)
{
	for (size_t i = 0; i < overrides->items.len; i++) {
		const struct seek_override *found = &overrides->items.items[i];

		if (found->partition != stored->partition)
			continue;
		/* Another topic may reach the same offset, but not with a message of the same time.
		 */
		if (found->replaced_next == stored->next &&
		    found->replaced_timestamp_ms == stored->last_timestamp_ms)
			return found->offset;
		seek_overrides_remove(overrides, stored->partition);
		break;
	}
	return -1;
}

void seek_overrides_done(struct seek_overrides *overrides)
{
	arena_free(&overrides->arena);
	*overrides = (struct seek_overrides){ 0 };
}
