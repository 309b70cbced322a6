// SPDX-License-Identifier: Apache-2.0
/*
 * spool_directory - the spool's files and their index: opened and recovered at the start, after an
 * end in order or a crash at any instant; for spool.c alone.
 */
#pragma once

#include "spool.h"

#include <limits.h>

enum spool_state {
	SPOOL_WAITING,
	SPOOL_IN_FLIGHT,
	/* To be given up by the next spool_put(), which alone writes meta: */
	SPOOL_IS_CORRUPT,
	SPOOL_IS_REJECTED,
};

struct spool_entry {
	uint64_t epoch, seq, bytes, samples, time_unix_ns;
	enum spool_state state;
};

struct spool_name {
	char text[NAME_MAX + 1];
};

#define SPOOL_META "meta"

struct spool_name spool_name_format(uint64_t epoch, uint64_t seq, const char *suffix);

/* At the end of the index, which is by age. The caller holds the lock, or is alone. */
void spool_entry_add(struct spool *spool, const struct spool_entry *entry);

/* Counts and numbers to disk. Only the thread that puts. */
bool spool_meta_store(struct spool *spool, str status, struct err *err) MUST_CHECK;

/* Lock the directory, find the host id, index the batches; go on with meta or begin an epoch. */
bool spool_directory_open(struct spool *spool, const struct spool_options *options,
			  struct err *err) MUST_CHECK;
