// SPDX-License-Identifier: Apache-2.0
#include "querier/report/frozen.h"

#include "base/reader.h"
#include "store/chunk/chunk_decode.h"
#include "store/chunk/chunk_encode.h"
#include "wire/symbolize.h"

#include <inttypes.h>

enum { LEVEL = 3 };        /* of zstd, the same as in stored rows */
enum { SEVERAL_ROWS = 0 }; /* the first byte of a payload of several rows */

/* Accept each series; the single series of a merge has no labels. */
static bool accept_all(void *self, uint64_t id, str type, struct labels *ret_labels)
{
	(void)self;
	(void)id;
	(void)type;
	*ret_labels = (struct labels){ 0 };
	return true;
}

/* Append the row's samples to the set. */
static bool decode_row(str row, struct sample_set *set, struct err *err)
{
	const struct chunk_filter filter = { .series = accept_all, .end_ms = UINT64_MAX };
	uint64_t samples;

	return chunk_decode(row, &filter, set, &samples, err);
}

/* Decode the payload into the arena, within the memory limit of the merge. NULL merge: no limit. */
static bool decode(str payload, struct merge *merge, struct arena *arena,
		   struct sample_set *ret_set, struct err *err)
{
	struct reader r = reader_of(payload);

	sample_set_init(ret_set, arena);
	if (reader_u8(&r) != SEVERAL_ROWS)
		return decode_row(payload, ret_set, err);
	while (reader_left(&r)) {
		str row = reader_str_prefixed(&r);

		if (r.failed)
			return err_set(err, ERR_INVALID, "a row of the share is truncated");
		if (!decode_row(row, ret_set, err) ||
		    (merge && !merge_within_memory(merge, arena, err)))
			return false;
	}
	return true;
}

static struct sample_set slice_of(const struct sample_set *set, size_t first, size_t count)
{
	struct sample_set slice = *set;

	slice.samples.items = set->samples.items + first;
	slice.samples.len = slice.samples.cap = count;
	return slice;
}

/*
 * Encode the set as one row, or as several if it exceeds the bounds of a row: the number of samples
 * per row is halved until they fit. Stops once the rows have more than max_bytes.
 */
static str encode(const struct sample_set *set, uint64_t max_bytes, struct arena *arena)
{
	struct buf rows = { .arena = arena };
	size_t count = set->samples.len;
	str row = chunk_encode(set, LEVEL, arena, NULL);

	if (row.len)
		return row;
	buf_u8(&rows, SEVERAL_ROWS);
	for (size_t at = 0; at < set->samples.len && rows.len <= max_bytes;) {
		AUTO_ARENA scratch = { 0 };
		size_t left = set->samples.len - at;
		size_t slice_len = left < count ? left : count;
		struct sample_set slice = slice_of(set, at, slice_len);

		row = chunk_encode(&slice, LEVEL, &scratch, NULL);
		if (row.len) {
			buf_str_prefixed(&rows, row);
			at += slice_len;
		} else {
			count = (slice_len + 1) / 2;
		}
	}
	return buf_bytes(&rows);
}

/* Order the reasons like the frames of the rows, an order that is only known after decoding. */
static bool order_reasons(struct merge *merge, str payload, struct arena *arena, str *ret_reasons,
			  struct err *err)
{
	AUTO_ARENA scratch = { 0 };
	struct sample_set set;
	size_t known = merge->set.frames.len;

	if (!decode(payload, NULL, &scratch, &set, err))
		return false;

	char *reasons = arena_array(arena, char, set.frames.len);

	for (size_t i = 0; i < set.frames.len; i++) {
		uint32_t index = sample_set_frame(&merge->set, &set.frames.items[i]);

		if (merge->reasons && index < known)
			reasons[i] = (char)merge->reasons[index];
	}
	*ret_reasons = (str){ reasons, set.frames.len };
	return true;
}

bool frozen_make(struct merge *merge, uint64_t max_bytes, struct arena *arena,
		 struct frozen *ret_frozen, struct err *err)
{
	struct frozen frozen = { .payload = encode(&merge->set, max_bytes, arena) };

	if (frozen.payload.len <= max_bytes &&
	    !order_reasons(merge, frozen.payload, arena, &frozen.reasons, err))
		return false;
	if (frozen.payload.len + frozen.reasons.len > max_bytes)
		return err_set(err, ERR_LIMIT,
			       "the profile is too large to be frozen: more than %" PRIu64
			       " bytes (--share-max-bytes); share less time, fewer labels or fewer "
			       "series, or set \"freeze\": false",
			       max_bytes);
	*ret_frozen = frozen;
	return true;
}

bool frozen_read(const struct frozen *frozen, struct merge *merge, struct err *err)
{
	struct sample_set set;

	if (!decode(frozen->payload, merge, merge->arena, &set, err))
		return false;
	if (frozen->reasons.len != set.frames.len)
		return err_set(err, ERR_INVALID, "%zu reasons for %zu frames", frozen->reasons.len,
			       set.frames.len);
	for (size_t i = 0; i < frozen->reasons.len; i++)
		if ((uint8_t)frozen->reasons.ptr[i] >= NAME_REASON_COUNT)
			return err_set(err, ERR_INVALID, "an unknown reason");
	/* A set without samples has no series, but a merge must have one. */
	if (set.samples.len)
		merge->set = set;
	merge->reasons = (const uint8_t *)frozen->reasons.ptr;
	return merge_within_memory(merge, merge->arena, err);
}
