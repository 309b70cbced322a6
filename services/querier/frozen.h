// SPDX-License-Identifier: Apache-2.0
/*
 * frozen - an answer as bytes that need nothing else to be read: for links that outlive samples.
 *
 * It is rows of samples (store/chunk_encode.h) whose frames have their names, addresses and lines, so any
 * report can be made of it; and for each frame of those rows why it has no name. Pure.
 *
 * One row is the payload as it is. Of several, a profile beyond a row's bounds, the payload is a 0,
 * which no row begins with, and for each its length (varint) and its bytes.
 */
#pragma once

#include "merge.h"

struct frozen {
	str payload, reasons;
};

/* The merge is as before. ERR_LIMIT: more than max_bytes. */
bool frozen_make(struct merge *merge, uint64_t max_bytes, struct arena *arena,
		 struct frozen *ret_frozen, struct err *err) MUST_CHECK;

/*
 * Fill a merge of merge_init() that nothing was put in; nothing more may be. ERR_INVALID: damaged;
 * ERR_LIMIT: more memory than the merge may take.
 */
bool frozen_read(const struct frozen *frozen, struct merge *merge, struct err *err) MUST_CHECK;
