// SPDX-License-Identifier: Apache-2.0
#include "store/known.h"

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

void known_init(struct known *known, size_t max)
{
	size_t slots = 64;

	while (slots < max * 2)
		slots *= 2;
	*known = (struct known){ .slots = slots, .max = max ? max : 1 };
	known->young = table_new(slots);
	known->old = table_new(slots);
}

void known_done(struct known *known)
{
	free(known->young);
	free(known->old);
	*known = (struct known){ 0 };
}

/* Keys are hashes; the one that is 0 shares its place with another, which is as rare. */
static uint64_t *slot_of(const struct known *known, uint64_t *table, uint64_t key)
{
	size_t i = key & (known->slots - 1);

	while (table[i] && table[i] != key)
		i = (i + 1) & (known->slots - 1);
	return &table[i];
}

void known_add(struct known *known, uint64_t key)
{
	key = key ? key : 1;
	if (*slot_of(known, known->young, key))
		return;
	if (known->young_count >= known->max) {
		uint64_t *forgotten = known->old;

		known->old = known->young;
		known->young = forgotten;
		known->young_count = 0;
		memset(known->young, 0, known->slots * sizeof(*known->young));
	}
	*slot_of(known, known->young, key) = key;
	known->young_count++;
}

bool known_has(struct known *known, uint64_t key)
{
	key = key ? key : 1;
	if (*slot_of(known, known->young, key))
		return true;
	if (!*slot_of(known, known->old, key))
		return false;
	known_add(known, key);
	return true;
}

void known_clear(struct known *known)
{
	known->young_count = 0;
	memset(known->young, 0, known->slots * sizeof(*known->young));
	memset(known->old, 0, known->slots * sizeof(*known->old));
}
