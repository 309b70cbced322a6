// SPDX-License-Identifier: Apache-2.0
/*
 * spool_file - encodes and decodes the spool's files: batches and meta. Pure: no I/O, any thread.
 * The bytes are untrusted.
 *
 * Both formats are little endian, begin with a magic number and a version, and end with the XXH3
 * hash of all bytes before it, which detects truncated and corrupt files.
 */
#pragma once

#include "agent/agent_limits.h"
#include "base/buf.h"
#include "base/err.h"

enum {
	SPOOL_HEADER_SIZE = 64, /* the fixed part that begins a batch file */
};

struct spool_batch {
	uint64_t epoch, seq;
	uint64_t samples;      /* in `value` */
	uint64_t time_unix_ns; /* when it was put */
	str key, status, value;
};

/* Sequence numbers of one epoch, first to last inclusive; last 0: empty. */
struct spool_range {
	uint64_t epoch, first, last;
};

struct spool_meta {
	uint64_t epoch, last_seq;
	uint64_t counts[6];         /* struct spool_lost: batches, then samples, by reason */
	struct spool_range dropped; /* counted already; its remaining files are to be removed */
	str host_id, status;
	str place; /* the spool's place when meta was written (spool.h); empty: not recorded */
};

/* The bytes of a batch file, in the arena. */
str spool_batch_write(const struct spool_batch *batch, struct arena *arena);

/* The batch borrows from `file`. ERR_INVALID: the file is malformed; the message says where;
 * *ret_batch is undefined. */
bool spool_batch_read(str file, struct spool_batch *ret_batch, struct err *err) MUST_CHECK;

/*
 * Decodes the first SPOOL_HEADER_SIZE bytes, which have a checksum of their own, and computes the
 * expected size of the file. The rest of the file is not checked: sufficient for the index, not for
 * sending. ERR_INVALID: malformed.
 */
bool spool_header_read(str head, struct spool_batch *ret_batch, uint64_t *ret_file_size,
		       struct err *err) MUST_CHECK;

/* The bytes of meta, in the arena. */
str spool_meta_write(const struct spool_meta *meta, struct arena *arena);

/* The texts of the meta borrow from `file`. ERR_INVALID: malformed. */
bool spool_meta_read(str file, struct spool_meta *ret_meta, struct err *err) MUST_CHECK;
