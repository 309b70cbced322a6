// SPDX-License-Identifier: Apache-2.0
/*
 * chunk - any bytes are decoded as a row or rejected, and decoded samples can be encoded and
 * decoded again. A row that can be decoded can also be decoded without some columns, to as many
 * samples.
 *
 * Checksums would reject nearly every input, so they are recomputed first.
 */
#include "store/chunk/chunk_decode.h"
#include "store/chunk/chunk_directory.h"
#include "store/chunk/chunk_encode.h"
#include "store/chunk/chunk_ranges.h"
#include "support/chunk_seal.h"

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

static bool one_series(void *self, uint64_t id, str type, struct labels *ret_labels)
{
	(void)type;
	*ret_labels = (struct labels){ 0 };
	return id == *(const uint64_t *)self;
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

/* The slice with one series and the whole row give the same samples. */
static void read_part(str row, const struct chunk_layout *layout, const struct sample_set *whole)
{
	AUTO_ARENA arena = { 0 };
	struct chunk_directory directory = chunk_directory_of(whole, &arena);
	struct sample_set of_row, of_part;
	struct buf part = { .arena = &arena };
	uint64_t samples = 0;
	struct err err = { 0 };

	directory.layout = *layout;
	if (!directory.series_count)
		return;

	uint64_t wanted = directory.series[directory.series_count / 2].id;
	struct chunk_filter filter = { one_series, &wanted, 0, UINT64_MAX };
	bool *series = arena_array(&arena, bool, directory.series_count);

	series[directory.series_count / 2] = true;

	struct chunk_ranges ranges = chunk_ranges_choose(&directory, series, row.len, &arena);

	for (size_t i = 0; i < ranges.count; i++)
		buf_str(&part, (str){ row.ptr + ranges.ranges[i].at, ranges.ranges[i].len });
	sample_set_init(&of_row, &arena);
	sample_set_init(&of_part, &arena);
	assert(chunk_decode(row, &filter, &of_row, &samples, &err));
	filter.slices = ranges.slices;
	assert(chunk_decode(buf_bytes(&part), &filter, &of_part, &samples, &err));
	assert(of_row.samples.len == of_part.samples.len);
	assert(of_row.stacks.len == of_part.stacks.len);
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
	buf_bytes_add(&row, data, size);
	chunk_seal(row.ptr, row.len);

	bool good = chunk_decode(buf_bytes(&row), &all, &set, &samples, &err);

	for (unsigned int without = 1; without <= (CHUNK_NO_STACKS | CHUNK_NO_LABELS); without++)
		read_without(buf_bytes(&row), without, good ? &set : NULL);
	if (!good) {
		assert(err.code == ERR_INVALID && err.msg[0]);
		return 0;
	}
	assert(set.samples.len <= samples);

	struct chunk_layout layout;
	str written = chunk_encode(&set, 1, &arena, &layout);

	if (!written.len) { /* more than the writer puts into one row */
		assert(set.samples.len > 1);
		return 0;
	}
	assert(chunk_decode(written, &all, &again, &samples, &err));
	assert(samples == set.samples.len && again.samples.len == samples);
	read_part(written, &layout, &set);
	return 0;
}
