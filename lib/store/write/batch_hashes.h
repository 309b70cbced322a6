// SPDX-License-Identifier: Apache-2.0
/*
 * batch_hashes - hashes of the contents of a spool's newest batches. No I/O; one thread per object.
 *
 * A program that reaches Kafka can send a host's next sequence numbers. The host's own batches with
 * these numbers are then not duplicates. Their contents differ from what was received: a conflict.
 *
 *     numbers 1 to 300 received:   slot 0: 256   slot 44: 300   slot 45: 45   slot 255: 255
 *
 * The hash of number n is in slot n % BATCH_HASHES_MAX, so that a new batch changes four bytes of
 * the stored row. Of older batches, of batches that an older ingester stored, and of numbers that
 * were given up, no hash is known: such a batch counts as a duplicate.
 *
 * A hash is the lower half of XXH3. It does not withstand a collision that is made on purpose. That
 * needs the contents of a batch before its host sends it.
 */
#pragma once

#include "base/arena.h"
#include "base/str.h"
#include "store/limits.h"

/* {0} knows no batch. The slots are in the arena of the calls. */
struct batch_hashes {
	uint32_t *slots; /* BATCH_HASHES_MAX; 0: unknown. NULL: all are unknown */
};

/* The hash of a batch's contents; never 0. */
uint32_t batch_hash(str contents);

/*
 * Remembers the hash of a number that was received; a number too old for the slots is ignored.
 * `highest` is the highest number that was received before this batch, and the arena must outlive
 * the object. Cannot fail.
 */
void batch_hashes_add(struct batch_hashes *hashes, uint64_t highest, uint64_t sequence,
		      uint32_t hash, struct arena *arena);

/* True if the batch that was received under this number is known and has another hash. `highest` is
 * the highest number that was received. */
bool batch_hashes_differ(const struct batch_hashes *hashes, uint64_t highest, uint64_t sequence,
			 uint32_t hash);

/* The stored form: the slots in use, little endian. In the arena. */
str batch_hashes_bytes(const struct batch_hashes *hashes, uint64_t highest, struct arena *arena);

/* Decodes this form. Missing or surplus bytes are no error: their hashes are unknown. */
void batch_hashes_read(struct batch_hashes *hashes, str bytes, struct arena *arena);
