// SPDX-License-Identifier: Apache-2.0
/*
 * heap - allocation of objects that are freed one by one, and the end of the process if there is no
 * memory.
 *
 * An arena cannot free one object of many; these objects are allocated on the heap and released
 * with free(). If memory is exhausted, the process aborts, as with arenas, so no function returns
 * NULL. Any thread.
 */
#pragma once

#include "base/str.h"

/* Writes "out of memory" to stderr and aborts. For a library that reports that its own allocation
 * failed. */
_Noreturn void heap_exhausted(void);

/* count * size zeroed bytes; both are above 0. The caller frees them with free(). */
void *heap_zeroed(size_t count, size_t size) __attribute__((malloc, returns_nonnull));

/* Resizes an array to count * size bytes; `ptr` NULL: allocates. New bytes are not initialised.
 * `count` and `size` are above 0. The caller frees it with free(). */
void *heap_resize(void *ptr, size_t count, size_t size) __attribute__((returns_nonnull));

/* A NUL-terminated copy. The caller frees it with free(). */
char *heap_str(str s) __attribute__((malloc, returns_nonnull));

/* By default malloc() keeps larger and larger freed blocks. From now on blocks of HEAP_MAPPED_BYTES
 * and more are returned to the system when they are freed. Call it before the first thread starts.
 */
void heap_return_freed(void);

/* A zeroed array of n objects, or one object: heap_new(struct process). */
#define heap_array(type, n) ((type *)heap_zeroed((n), sizeof(type)))
#define heap_new(type)      heap_array(type, 1)
