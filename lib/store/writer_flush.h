// SPDX-License-Identifier: Apache-2.0
/*
 * writer_flush - one flush under way: what writer.c puts together out of the files writer_*.c.
 */
#pragma once

#include "base/vec.h"
#include "store/writer.h"

struct flush {
	struct store_writer *writer;
	struct store_part *parts; /* those marked lost are passed over */
	size_t part_count;
	struct arena arena; /* of all that one try makes */
	uint64_t now_ms;
	struct store_flush result;

	struct buf copy;     /* the rows of chunk_raw, as COPY wants them */
	VEC(uint64_t) hours; /* ms: arrivals of rows, an hour once */
	VEC(uint64_t) days;  /* ms: of samples, a day once */
};
