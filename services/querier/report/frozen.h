// SPDX-License-Identifier: Apache-2.0
/*
 * frozen - encodes a symbolized merge as bytes that need nothing else to be decoded: the payload of
 * shares that outlive their samples.
 *
 * The payload is rows of samples (store/chunk_encode.h) whose frames have functions, addresses and
 * lines, so that any report can be made of it. `reasons` has one byte for each frame of these rows:
 * why it has no symbol (enum name_reason). Pure.
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

/* Encode a merge, which does not change; bytes live in the arena. ERR_LIMIT: more than max_bytes.
 */
bool frozen_make(struct merge *merge, uint64_t max_bytes, struct arena *arena,
		 struct frozen *ret_frozen, struct err *err) MUST_CHECK;

/*
 * Decode into an empty merge, after merge_init(). The merge borrows from `frozen`; nothing can be
 * added to it afterwards. ERR_INVALID: corrupt; ERR_LIMIT: more memory than the merge may use.
 */
bool frozen_read(const struct frozen *frozen, struct merge *merge, struct err *err) MUST_CHECK;
