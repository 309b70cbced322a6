// SPDX-License-Identifier: Apache-2.0
#include "base/heap.h"

#include "base/base_limits.h"

#include <malloc.h>
#include <stdio.h>

/* GCOVR_EXCL_START: the process aborts here and writes no coverage counts */
void heap_exhausted(void)
{
	fputs("out of memory\n", stderr);
	abort();
}
/* GCOVR_EXCL_STOP */

void *heap_zeroed(size_t count, size_t size)
{
	void *zeroed = calloc(count, size);

	if (!zeroed)
		heap_exhausted(); /* GCOVR_EXCL_LINE: as above */
	return zeroed;
}

void *heap_resize(void *ptr, size_t count, size_t size)
{
	void *resized = reallocarray(ptr, count, size);

	if (!resized)
		heap_exhausted(); /* GCOVR_EXCL_LINE: as above */
	return resized;
}

char *heap_str(str s)
{
	char *copy = heap_zeroed(s.len + 1, 1);

	if (s.len)
		memcpy(copy, s.ptr, s.len);
	return copy;
}

void heap_return_freed(void)
{
	/* The callers have no threads yet. */
	mallopt(M_MMAP_THRESHOLD, HEAP_MAPPED_BYTES); /* NOLINT(concurrency-mt-unsafe) */
	mallopt(M_TRIM_THRESHOLD, HEAP_MAPPED_BYTES); /* NOLINT(concurrency-mt-unsafe) */
}
