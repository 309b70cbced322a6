// SPDX-License-Identifier: Apache-2.0
/*
 * chunk - any bytes are read as a row or refused, and what was read can be written and read again.
 * With columns left packed, what can be read whole can be read too, and is as many samples.
 *
 * The checksum would stop nearly every input at the door, so it is put right first.
 */
#include "store/chunk.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool any_series(void *self, uint64_t id, str type, struct labels *ret_labels)
{
	(void)self;
	(void)id;
	(void)type;
	*ret_labels = (struct labels){ 0 };
	return true;
}

static void read_without(str row, unsigned int without, const struct sample_set *whole)
{
	AUTO_ARENA arena = { 0 };
	const struct chunk_filter filter = { any_series, NULL, 0, UINT64_MAX, without };
	struct sample_set set;
	uint64_t samples = 0;
	struct err err = { 0 };

	sample_set_init(&set, &arena);
	if (chunk_decode(row, &filter, &set, &samples, &err))
		assert(!whole || set.samples.len == whole->samples.len);
	else
		assert(!whole && err.code == ERR_INVALID && err.msg[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	const struct chunk_filter all = { any_series, NULL, 0, UINT64_MAX };
	struct buf row = { .arena = &arena };
	struct sample_set set, again;
	uint64_t samples = 0;
	struct err err = { 0 };

	sample_set_init(&set, &arena);
	sample_set_init(&again, &arena);
	buf_bytes_add(&row, data, size > 8 ? size - 8 : 0);
	buf_u64(&row, hash_64(buf_bytes(&row)));

	bool good = chunk_decode(buf_bytes(&row), &all, &set, &samples, &err);

	for (unsigned int without = 1; without <= (CHUNK_NO_STACKS | CHUNK_NO_LABELS); without++)
		read_without(buf_bytes(&row), without, good ? &set : NULL);
	if (!good) {
		assert(err.code == ERR_INVALID && err.msg[0]);
		return 0;
	}
	assert(set.samples.len <= samples);

	str written = chunk_encode(&set, 1, &arena);

	if (!written.len) { /* more than the writer puts into one row */
		assert(set.samples.len > 1);
		return 0;
	}
	assert(chunk_decode(written, &all, &again, &samples, &err));
	assert(samples == set.samples.len && again.samples.len == samples);
	return 0;
}
