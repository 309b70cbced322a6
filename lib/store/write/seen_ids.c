// SPDX-License-Identifier: Apache-2.0
#include "store/write/seen_ids_internal.h"

void seen_ids_init(struct seen_ids *ids, size_t max)
{
	*ids = (struct seen_ids){ .max = max ? max : 1 };
}

void seen_ids_done(struct seen_ids *ids)
{
	index_done(&ids->young);
	index_done(&ids->old);
}

/* The keys are hashes. */
void seen_ids_add(struct seen_ids *ids, uint64_t key)
{
	if (index_find(&ids->young, key, each, each == key))
		return;
	if (ids->young.len >= ids->max) {
		seen_index evicted = ids->old;

		ids->old = ids->young;
		ids->young = evicted;
		index_clear(&ids->young);
	}
	*index_at(NULL, &ids->young, key, each, each == key) = key;
}

bool seen_ids_has(struct seen_ids *ids, uint64_t key)
{
	if (index_find(&ids->young, key, each, each == key))
		return true;
	if (!index_find(&ids->old, key, each, each == key))
		return false;
	seen_ids_add(ids, key);
	return true;
}

void seen_ids_clear(struct seen_ids *ids)
{
	index_clear(&ids->young);
	index_clear(&ids->old);
}
