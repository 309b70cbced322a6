// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_cache - tables on disk, by the build id of their file.
 *
 * STATE/unwind/BUILD_ID.v1, the 1 being UNWIND_FILE_VERSION. A file that is spoiled is removed by
 * who finds out. When they are more bytes than they may be, those go that were not used for the
 * longest time. Nothing is lost with the cache but the work of building. One thread at a time.
 */
#pragma once

#include "base/err.h"

struct unwind_cache {
	uint64_t bytes; /* of all files */
	/* cumulative */
	uint64_t removed;  /* to make room */
	uint64_t left_out; /* not kept, because the disk has little room left */
	/* private */
	int directory; /* -1: there is none: nothing is kept */
	uint64_t max_bytes;
};

/* NULL: no state directory. What cannot be used is said in the log: then there is no cache. */
void unwind_cache_open(struct unwind_cache *cache, const char *state_directory, uint64_t max_bytes);
void unwind_cache_close(struct unwind_cache *cache);

/* The file, or -1. */
int unwind_cache_get(struct unwind_cache *cache, const char *build_id) MUST_CHECK;

/* Keep a copy of a table's file, from its beginning; not where the disk has little room left, which
 * is the spool's. */
bool unwind_cache_put(struct unwind_cache *cache, const char *build_id, int fd,
		      struct err *err) MUST_CHECK;

void unwind_cache_remove(struct unwind_cache *cache, const char *build_id);

/* All bytes of one file to the end of another, empty one; not by way of a mapping, which a bad disk
 * would make deadly. */
bool unwind_cache_copy(int from, int to, struct err *err) MUST_CHECK;
