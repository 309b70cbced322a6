// SPDX-License-Identifier: Apache-2.0
/*
 * spool_file - the bytes of the spool's files: batches and meta. Pure: no I/O, foreign bytes in.
 *
 * Both are little endian, begin with a magic and a version and end with XXH3 of all before it, so
 * that a torn or rotten file is known as one.
 */
#pragma once

#include "agent_limits.h"
#include "base/buf.h"
#include "base/err.h"

enum {
	SPOOL_HEADER_SIZE = 64, /* the fixed part that begins a batch file */
};

struct spool_batch {
	uint64_t epoch, seq;
	uint64_t samples;      /* in the value: what is lost with it */
	uint64_t time_unix_ns; /* when it was put */
	str key, status, value;
};

/* Numbers of one epoch, first to last; last 0: none. */
struct spool_range {
	uint64_t epoch, first, last;
};

struct spool_meta {
	uint64_t epoch, last_seq;
	uint64_t counts[6];         /* struct spool_lost: batches, then samples, by reason */
	struct spool_range dropped; /* counted already: a file of it that is there must go */
	str host_id, status;
};

str spool_batch_write(const struct spool_batch *batch, struct arena *arena);

/* The batch points into `file`. ERR_INVALID says what is wrong with it. */
bool spool_batch_read(str file, struct spool_batch *ret_batch, struct err *err) MUST_CHECK;

/*
 * What the first SPOOL_HEADER_SIZE bytes say, and how long the file has to be. Not yet checked
 * against the checksum: good for an index, not for sending.
 */
bool spool_header_read(str head, struct spool_batch *ret_batch, uint64_t *ret_file_size,
		       struct err *err) MUST_CHECK;

str spool_meta_write(const struct spool_meta *meta, struct arena *arena);
bool spool_meta_read(str file, struct spool_meta *ret_meta, struct err *err) MUST_CHECK;
