// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_cache - unwind tables on disk, by the build id of their file.
 *
 * STATE/unwind/BUILD_ID.v1, where 1 is UNWIND_FILE_VERSION. The reader verifies a file and removes
 * it if it is corrupt. When the files exceed max_bytes, the least recently used ones are removed. A
 * lost cache costs only the time to build the tables again. One thread at a time.
 */
#pragma once

#include "base/err.h"

struct unwind_cache {
	uint64_t bytes; /* size of all files */
	/* cumulative */
	uint64_t removed;  /* evicted to make room */
	uint64_t left_out; /* not stored, since the disk has little free space */
	/* private */
	int directory; /* -1: there is no cache, nothing is stored */
	uint64_t max_bytes;
};

/*
 * `state_directory` NULL: no cache. If the directory cannot be used, this is logged and there is no
 * cache.
 */
void unwind_cache_open(struct unwind_cache *cache, const char *state_directory, uint64_t max_bytes);
void unwind_cache_close(struct unwind_cache *cache);

/* A descriptor of the file, the caller's to close; -1: not in the cache. */
int unwind_cache_get(struct unwind_cache *cache, const char *build_id) MUST_CHECK;

/*
 * Store a copy of the whole file `fd`. True also if there is no cache, the file is larger than the
 * cache, or less than UNWIND_CACHE_SPARE_BYTES of the disk would stay free for the spool.
 */
bool unwind_cache_put(struct unwind_cache *cache, const char *build_id, int fd,
		      struct err *err) MUST_CHECK;

void unwind_cache_remove(struct unwind_cache *cache, const char *build_id);

/*
 * Copy all bytes of one file to the end of another, empty one. Not by a memory mapping: a disk
 * error would be a SIGBUS.
 */
bool unwind_cache_copy(int from, int to, struct err *err) MUST_CHECK;
