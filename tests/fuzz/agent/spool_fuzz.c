// SPDX-License-Identifier: Apache-2.0
/*
 * The files of a spool. The input is also tried with correct checksums, or the checksum would
 * reject every change.
 */
#include "agent/spool/spool_file_internal.h"
#include "base/hash.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* With a correct checksum at the end, and one where the header of a batch has it. */
static str summed(const uint8_t *data, size_t size, struct arena *arena)
{
	char *copy = arena_array(arena, char, size + 1);
	uint64_t sum;

	memcpy(copy, data, size);
	if (size >= SPOOL_HEADER_SIZE) {
		sum = hash_64((str){ copy, SPOOL_HEADER_SIZE - sizeof(sum) });
		memcpy(copy + SPOOL_HEADER_SIZE - sizeof(sum), &sum, sizeof(sum));
	}
	if (size >= sizeof(sum)) {
		sum = hash_64((str){ copy, size - sizeof(sum) });
		memcpy(copy + size - sizeof(sum), &sum, sizeof(sum));
	}
	return (str){ copy, size };
}

/* An older meta file lacks fields, so the file that is written may be longer. */
static void try_meta(str file, struct arena *arena)
{
	struct spool_meta meta;
	struct err err;

	if (!spool_meta_read(file, &meta, &err))
		return;

	str written = spool_meta_write(&meta, arena);

	if (!spool_meta_read(written, &meta, &err) ||
	    !str_eq(spool_meta_write(&meta, arena), written))
		abort();
}

static void try_all(str file, struct arena *arena)
{
	struct spool_batch batch;
	uint64_t size;
	struct err err;

	if (spool_header_read(file, &batch, &size, &err) && spool_batch_read(file, &batch, &err) &&
	    spool_batch_write(&batch, arena).len != file.len)
		abort();
	try_meta(file, arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };

	try_all((str){ (const char *)data, size }, &arena);
	try_all(summed(data, size, &arena), &arena);
	return 0;
}
