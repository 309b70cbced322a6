// SPDX-License-Identifier: Apache-2.0
/*
 * unwind_cache - unwind tables on disk, by the name that the caller gives a table.
 *
 * Files are named STATE/unwind/NAME.v2, where 2 is UNWIND_FILE_VERSION. The caller verifies a
 * file that it gets, and removes it if it is corrupt. When the files exceed max_bytes, the least
 * recently used ones are removed. A lost cache costs only the time to build the tables again. One
 * thread at a time.
 */
#pragma once

#include "base/err.h"

enum { UNWIND_CACHE_NAME_MAX = 240 }; /* with the NUL; a file name has room for it */

struct unwind_cache {
	uint64_t bytes; /* size of all files */
	/* cumulative */
	uint64_t removed;  /* evicted to make room */
	uint64_t left_out; /* not stored, since the disk has little free space */
	/* private */
	int directory; /* -1: there is no cache, nothing is stored */
	uint64_t max_bytes;
};

/* Indexes the files. `state_directory` is borrowed; NULL: no cache. If the directory cannot be
 * used, a warning is logged and there is no cache. */
void unwind_cache_open(struct unwind_cache *cache, const char *state_directory, uint64_t max_bytes);

/* Closes the directory; the files stay. `directory` must be -1 or open. */
void unwind_cache_close(struct unwind_cache *cache);

/* Opens a table's file. The caller closes the descriptor. -1: not in the cache. */
int unwind_cache_get(struct unwind_cache *cache, const char *table) MUST_CHECK;

/*
 * Stores a copy of the whole file `fd`, which stays the caller's. True also if nothing was stored:
 * there is no cache, the file is larger than the cache, or less than UNWIND_CACHE_SPARE_BYTES of
 * the disk would stay free for the spool. ERR_IO: the copy failed; the cache is unchanged, except
 * that files may have been evicted.
 */
bool unwind_cache_put(struct unwind_cache *cache, const char *table, int fd,
		      struct err *err) MUST_CHECK;

/* Removes a table's file, if it exists. */
void unwind_cache_remove(struct unwind_cache *cache, const char *table);

/* Copies all bytes of the file `from` to the empty file `to`. No memory mapping is used, because a
 * disk error would be a SIGBUS. ERR_IO: `to` may have a part of the bytes. */
bool unwind_cache_copy(int from, int to, struct err *err) MUST_CHECK;
