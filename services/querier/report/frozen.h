// SPDX-License-Identifier: Apache-2.0
/*
 * frozen - encodes a symbolized merge as bytes that need nothing else to be decoded: the payload of
 * shares that outlive their samples.
 *
 * The payload is rows of samples ("store/chunk/chunk_encode.h") whose frames have functions,
 * addresses and lines, so that any report can be made of it. `reasons` has one byte for each frame
 * of these rows: why it has no symbol (enum name_reason). Pure: any thread.
 *
 * If one row suffices, the payload is that row. If the profile exceeds the bounds of a row, the
 * payload is a 0 byte, with which no row begins, and for each row its length (varint) and its
 * bytes.
 */
#pragma once

#include "querier/merge/merge.h"

struct frozen {
	str payload, reasons;
};

/* Encodes a merge; its sums stay as they are. The bytes are in the arena. ERR_LIMIT: payload and
 * reasons have more than max_bytes bytes. */
bool frozen_make(struct merge *merge, uint64_t max_bytes, struct arena *arena,
		 struct frozen *ret_frozen, struct err *err) MUST_CHECK;

/*
 * Decodes into an empty merge, after merge_init(). The merge borrows from `frozen`, and no samples
 * can be added to it afterwards. ERR_INVALID: corrupt. ERR_LIMIT: more memory than the merge may
 * use. After a failure the merge must not be used.
 */
bool frozen_read(const struct frozen *frozen, struct merge *merge, struct err *err) MUST_CHECK;
