// SPDX-License-Identifier: Apache-2.0
/*
 * writer_flush - the state of one attempt at a flush, shared by the steps of the writer.
 *
 * store_writer_flush() initialises the state and frees `arena`. One thread: that of the writer.
 */
#pragma once

#include "base/vec.h"
#include "store/write/fence_groups_internal.h"
#include "store/write/writer.h"

struct flush {
	struct store_writer *writer;
	struct store_flush_part *parts; /* of the caller; parts marked `lost` are skipped */
	size_t part_count;
	struct fence_groups groups;
	struct arena arena; /* memory of one attempt */
	uint64_t now_ms;    /* Unix ms: time of arrival of the rows */
	struct store_flush result;

	struct buf copy;     /* rows of chunk_raw in binary COPY format */
	VEC(uint64_t) hours; /* Unix ms: distinct hours of arrival of the rows */
	VEC(uint64_t) days;  /* Unix ms: distinct days of the samples */
};
