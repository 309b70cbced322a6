// SPDX-License-Identifier: Apache-2.0
/*
 * chunk - the samples of one row of storage, as bytes that need no other table to be read but the
 * labels of their series.
 *
 * A row is a head with what its samples share (strings, frames, stacks, label sets), and slices:
 * runs of series, by id, with their samples. Each column of either is a zstd frame of its own, or
 * stored as it is where that is no longer; head and slices have a checksum each. So a reader may
 * take the head and the slices that hold its series, in their order, and leave the others in the
 * table: where they lie says chunk_layout, which the directory has.
 *
 * Samples are sorted by series and time. Stacks are sorted root first and front-coded: how many
 * frames are shared with the stack before, then the new ones. Frames are sorted by origin (type,
 * build id, path) and address, and say the step from the one before. chunk_format.h has it all.
 *
 * Of a series the row holds id, type and period, not its labels: those are in `series`, which lives
 * as long as any row of its day, and repeating them (a container id is 32 bytes that nothing
 * compresses) would double a row of ten seconds.
 */
#pragma once

#include "profile/sample_set.h"
#include "store/chunk_format.h"

/*
 * Only what the samples speak of is written. level: zstd's; 0 stores columns as they are.
 * ret_layout may be NULL. An empty str: they are more than ROW_RAW_MAX or ROW_FRAMES_MAX allow and
 * more than one; cut them in two.
 */
str chunk_encode(const struct sample_set *set, int level, struct arena *arena,
		 struct chunk_layout *ret_layout);
