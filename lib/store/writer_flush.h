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

/* Rows by bucket out of the parts: fills copy, hours and days. */
void flush_make_rows(struct flush *flush);

/* Series, pairs and names of sample labels that may be new, in a transaction of their own. */
bool flush_put_series(struct flush *flush, struct err *err) MUST_CHECK;

/* Within the transaction: the hosts' rows. A host whose row moved marks its parts. */
bool flush_put_hosts(struct flush *flush, bool *ret_lost, struct err *err) MUST_CHECK;

/* Within the transaction, and last: the offsets. A partition whose row moved is marked. */
bool flush_put_offsets(struct flush *flush, bool *ret_lost, struct err *err) MUST_CHECK;
