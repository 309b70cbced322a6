// SPDX-License-Identifier: Apache-2.0
#include "store/write/batch_hashes.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/reader.h"

uint32_t batch_hash(str contents)
{
	uint32_t hash = (uint32_t)hash_64(contents);

	return hash ? hash : 1;
}

static uint32_t *slot_of(const struct batch_hashes *hashes, uint64_t sequence)
{
	return &hashes->slots[sequence % BATCH_HASHES_MAX];
}

void batch_hashes_add(struct batch_hashes *hashes, uint64_t highest, uint64_t sequence,
		      uint32_t hash, struct arena *arena)
{
	if (sequence <= highest && highest - sequence >= BATCH_HASHES_MAX)
		return;
	if (!hashes->slots)
		hashes->slots = arena_array(arena, uint32_t, BATCH_HASHES_MAX);
	/* The slots of numbers that were skipped have hashes of older batches. */
	if (sequence > highest && sequence - highest > BATCH_HASHES_MAX)
		highest = sequence - BATCH_HASHES_MAX;
	for (uint64_t skipped = highest + 1; skipped < sequence; skipped++)
		*slot_of(hashes, skipped) = 0;
	*slot_of(hashes, sequence) = hash;
}

bool batch_hashes_differ(const struct batch_hashes *hashes, uint64_t highest, uint64_t sequence,
			 uint32_t hash)
{
	if (!hashes->slots || sequence > highest || highest - sequence >= BATCH_HASHES_MAX)
		return false;

	uint32_t known = *slot_of(hashes, sequence);

	return known && known != hash;
}

str batch_hashes_bytes(const struct batch_hashes *hashes, uint64_t highest, struct arena *arena)
{
	struct buf bytes = { .arena = arena };
	size_t used = highest < BATCH_HASHES_MAX ? (size_t)highest + 1 : BATCH_HASHES_MAX;

	for (size_t i = 0; hashes->slots && i < used; i++)
		buf_u32(&bytes, hashes->slots[i]);
	return buf_bytes(&bytes);
}

void batch_hashes_read(struct batch_hashes *hashes, str bytes, struct arena *arena)
{
	struct reader reader = { bytes };

	*hashes = (struct batch_hashes){ 0 };
	if (bytes.len == 0)
		return;
	hashes->slots = arena_array(arena, uint32_t, BATCH_HASHES_MAX);
	for (size_t i = 0; i < BATCH_HASHES_MAX; i++)
		hashes->slots[i] = reader_u32(&reader);
}
