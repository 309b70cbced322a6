// SPDX-License-Identifier: Apache-2.0
/*
 * chunk_encode - encodes samples as the payload of one stored row. No I/O, any thread.
 *
 * The payload contains everything that is needed to read the samples except the labels of their
 * series. Labels are in the table `series`, whose rows are kept as long as any row of their day:
 * repeating the labels in each row (a container id is 32 bytes that do not compress) would double
 * the size of a row that covers ten seconds. A row stores id, type and period of each series.
 *
 * A payload is a head with the tables that its samples share (strings, frames, stacks, label sets),
 * followed by slices: ranges of series, ordered by id, with their samples. Each column of the head
 * and of a slice is a zstd frame of its own, or is stored uncompressed if compression does not make
 * it shorter. The head and each slice have a checksum. A reader can therefore fetch only the head
 * and the slices that contain its series, in order. struct chunk_layout says where the slices are;
 * the directory ("store/chunk/chunk_directory.h") stores the layout.
 *
 * Samples are sorted by series and time. Stacks are sorted root first and front-coded: each stack
 * stores the number of frames that it shares with the previous stack, then its other frames. Frames
 * are sorted by origin (type, build id, path) and address, and are stored as differences from the
 * previous frame. "store/chunk/chunk_format_internal.h" describes the format.
 */
#pragma once

#include "profile/sample_set.h"
#include "store/chunk/chunk_format_internal.h"

/*
 * Returns the payload, which lives in the arena and borrows nothing from the set. Only table
 * entries that a sample references are written. level: zstd's compression level; 0 stores columns
 * uncompressed. *ret_layout, in the arena as well, is where the slices are; ret_layout may be NULL.
 *
 * Returns an empty str, and leaves *ret_layout unchanged, if the set has more than one sample and
 * exceeds ROW_RAW_MAX or ROW_FRAMES_MAX: the caller must split the set. There is no other failure.
 */
str chunk_encode(const struct sample_set *set, int level, struct arena *arena,
		 struct chunk_layout *ret_layout);
