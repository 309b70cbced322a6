// SPDX-License-Identifier: Apache-2.0
#include "store/write/seen_ids_internal.h"

#include <stdio.h>
#include <string.h>

static uint64_t *table_new(size_t slots)
{
	uint64_t *table = calloc(slots, sizeof(*table));

	if (!table) { /* GCOVR_EXCL_START: it ends the process, which writes no counts */
		fputs("out of memory\n", stderr);
		abort();
	} /* GCOVR_EXCL_STOP */
	return table;
}

void seen_ids_init(struct seen_ids *ids, size_t max)
{
	size_t slots = 64;

	while (slots < max * 2)
		slots *= 2;
	*ids = (struct seen_ids){ .slots = slots, .max = max ? max : 1 };
	ids->young = table_new(slots);
	ids->old = table_new(slots);
}

void seen_ids_done(struct seen_ids *ids)
{
	free(ids->young);
	free(ids->old);
	*ids = (struct seen_ids){ 0 };
}

/* Keys are hashes. Key 0 marks a free slot and is stored as 1, which is as rare. */
static uint64_t *slot_of(const struct seen_ids *ids, uint64_t *table, uint64_t key)
{
	size_t i = key & (ids->slots - 1);

	while (table[i] && table[i] != key)
		i = (i + 1) & (ids->slots - 1);
	return &table[i];
}

void seen_ids_add(struct seen_ids *ids, uint64_t key)
{
	key = key ? key : 1;
	if (*slot_of(ids, ids->young, key))
		return;
	if (ids->young_count >= ids->max) {
		uint64_t *evicted = ids->old;

		ids->old = ids->young;
		ids->young = evicted;
		ids->young_count = 0;
		memset(ids->young, 0, ids->slots * sizeof(*ids->young));
	}
	*slot_of(ids, ids->young, key) = key;
	ids->young_count++;
}

bool seen_ids_has(struct seen_ids *ids, uint64_t key)
{
	key = key ? key : 1;
	if (*slot_of(ids, ids->young, key))
		return true;
	if (!*slot_of(ids, ids->old, key))
		return false;
	seen_ids_add(ids, key);
	return true;
}

void seen_ids_clear(struct seen_ids *ids)
{
	ids->young_count = 0;
	memset(ids->young, 0, ids->slots * sizeof(*ids->young));
	memset(ids->old, 0, ids->slots * sizeof(*ids->old));
}
