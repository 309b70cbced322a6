// SPDX-License-Identifier: Apache-2.0
/*
 * heap - allocation of objects that are freed one by one: processes, mappings, executables.
 *
 * An arena cannot free one object of many, so these objects are allocated on the heap and released
 * with free(). If memory is exhausted, the process aborts, as with arenas. Any thread.
 */
#pragma once

#include "base/str.h"

#include <stdio.h>

/* Resizes an array to count * size bytes; `ptr` NULL: allocates. New bytes are not initialised.
 * `count` and `size` are above 0; the result is never NULL. The caller frees it with free(). */
static inline void *heap_resize(void *ptr, size_t count, size_t size)
{
	void *resized = reallocarray(ptr, count, size);

	if (!resized) { /* GCOVR_EXCL_START: it ends the process, which writes no counts */
		fputs("out of memory\n", stderr);
		abort();
	} /* GCOVR_EXCL_STOP */
	return resized;
}

/* A zeroed object with `extra` zeroed bytes after it. The caller frees it with free(). */
static inline void *heap_new(size_t size, size_t extra)
{
	return memset(heap_resize(NULL, 1, size + extra), 0, size + extra);
}

/* A NUL-terminated copy. The caller frees it with free(). */
static inline char *heap_str(str s)
{
	char *copy = heap_new(s.len + 1, 0);

	if (s.len)
		memcpy(copy, s.ptr, s.len);
	return copy;
}
