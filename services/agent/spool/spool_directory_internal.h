// SPDX-License-Identifier: Apache-2.0
/*
 * spool_directory - the spool's files and the index of its batches: opened and recovered at the
 * start, after a clean stop or a crash at any instant. For spool.c only.
 */
#pragma once

#include "agent/spool/spool.h"

#include <limits.h>

enum spool_state {
	SPOOL_WAITING,
	SPOOL_IN_FLIGHT,
	/* Dropped by the next spool_put(), the only writer of meta: */
	SPOOL_IS_CORRUPT,
	SPOOL_IS_REJECTED,
};

struct spool_entry {
	uint64_t epoch, seq, bytes, samples, time_unix_ns;
	enum spool_state state;
	uint32_t failed_reads;     /* 0: not tried yet, or readable */
	uint64_t retry_ns;         /* waiting: not read before this time (monotonic) */
	uint64_t reads_at_failure; /* spool.reads at the first failed read */
};

struct spool_name {
	char text[NAME_MAX + 1];
};

#define SPOOL_META "meta"

/* The name of a batch's file. */
struct spool_name spool_name_format(uint64_t epoch, uint64_t seq, const char *suffix);

/* Appends a copy to the index, which is sorted by age. The caller holds the lock, or no other
 * thread runs yet. */
void spool_entry_add(struct spool *spool, const struct spool_entry *entry);

/* Writes meta: the counters, the last number and `status`. Putting thread only; the caller must not
 * hold the lock. ERR_IO: the old meta stays, see disk_file_write(). */
bool spool_meta_store(struct spool *spool, str status, struct err *err) MUST_CHECK;

/*
 * Locks the state directory, finds the host id, loads meta and indexes the batches. Continues the
 * epoch of meta, or begins a new epoch. Fails as spool_open(); then spool_close() releases what was
 * opened.
 */
bool spool_directory_open(struct spool *spool, const struct spool_options *options,
			  struct err *err) MUST_CHECK;
