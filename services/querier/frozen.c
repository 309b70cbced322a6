#include "frozen.h"

#include "profile/symbolize.h"
#include "store/chunk.h"

#include <inttypes.h>

enum { LEVEL = 3 }; /* of zstd, as the store's rows have it */

/* The labels of a merge's one series are none. */
static bool want_all(void *self, uint64_t id, str type, struct labels *ret_labels)
{
	(void)self;
	(void)id;
	(void)type;
	*ret_labels = (struct labels){ 0 };
	return true;
}

static bool decode(str payload, struct arena *arena, struct sample_set *ret_set, struct err *err)
{
	const struct chunk_filter filter = { .series = want_all, .end_ms = UINT64_MAX };
	uint64_t samples;

	sample_set_init(ret_set, arena);
	return chunk_decode(payload, &filter, ret_set, &samples, err);
}

/* In the order that the row's frames have, which is known when it is read. */
static bool order_reasons(struct merge *merge, str payload, struct arena *arena, str *ret_reasons,
			  struct err *err)
{
	AUTO_ARENA scratch = { 0 };
	struct sample_set set;
	size_t known = merge->set.frames.len;

	if (!decode(payload, &scratch, &set, err))
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
	struct frozen frozen = { .payload = chunk_encode(&merge->set, LEVEL, arena) };

	if (frozen.payload.len && frozen.payload.len <= max_bytes &&
	    !order_reasons(merge, frozen.payload, arena, &frozen.reasons, err))
		return false;
	if (frozen.payload.len == 0 || frozen.payload.len + frozen.reasons.len > max_bytes)
		return err_set(
			err, ERR_LIMIT,
			"the profile is too large to be kept: more than %" PRIu64
			" bytes (--share-max-bytes) or more stacks than one row holds; share "
			"less time, fewer labels or fewer series, or \"freeze\": false",
			max_bytes);
	*ret_frozen = frozen;
	return true;
}

bool frozen_read(const struct frozen *frozen, struct merge *merge, struct err *err)
{
	struct sample_set set;

	if (!decode(frozen->payload, merge->arena, &set, err))
		return false;
	if (frozen->reasons.len != set.frames.len)
		return err_set(err, ERR_INVALID, "%zu reasons for %zu frames", frozen->reasons.len,
			       set.frames.len);
	for (size_t i = 0; i < frozen->reasons.len; i++)
		if ((uint8_t)frozen->reasons.ptr[i] >= NAME_REASON_COUNT)
			return err_set(err, ERR_INVALID, "a reason that there is not");
	/* Without samples there is no series, of which a merge has one. */
	if (set.samples.len)
		merge->set = set;
	merge->reasons = (const uint8_t *)frozen->reasons.ptr;
	return merge_within_memory(merge, merge->arena, err);
}
