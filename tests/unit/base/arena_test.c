// SPDX-License-Identifier: Apache-2.0
/*
 * Allocations are zeroed and aligned, and their memory is reused after a reset.
 */
#include "base/arena.h"
#include "support/test.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static void allocations_are_zeroed_aligned_and_disjoint(void **state)
{
	static const size_t aligns[] = { 1, 2, 8, 64, 4096 };
	AUTO_ARENA arena = { 0 };

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < 500; i++) {
			size_t align = aligns[i % ARRAY_LEN(aligns)], size = 1 + i * 7;
			char *bytes = arena_alloc(&arena, size, 1, align);

			assert_int_equal((uintptr_t)bytes % (align < 16 ? align : 16), 0);
			for (size_t k = 0; k < size; k++)
				assert_int_equal(bytes[k], 0);
			memset(bytes, (int)i | 1, size);
		}
		arena_reset(&arena);
	}
}

static void a_reset_keeps_one_block_and_frees_the_others(void **state)
{
	AUTO_ARENA arena = { 0 };

	(void)state;
	arena_reset(&arena); /* also an empty arena */
	for (int i = 0; i < 10; i++)
		(void)arena_array(&arena, char, 60000);
	assert_true(arena.size >= 600000);
	arena_reset(&arena);
	assert_true(arena.size > 0 && arena.size < 140000);

	size_t size = arena.size;

	(void)arena_array(&arena, char, 60000);
	assert_int_equal(arena.size, size); /* from the block that was kept */
	arena_free(&arena);
	assert_int_equal(arena.size, 0);
}

/* A size that overflows size_t must not become a small allocation. */
static void a_size_that_overflows_aborts_the_process(void **state)
{
	static const size_t counts[] = { SIZE_MAX / 8 + 1, SIZE_MAX / 8 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		pid_t child = fork();
		int status;

		assert_true(child >= 0);
		if (child == 0) {
			AUTO_ARENA arena = { 0 };

			signal(SIGABRT, SIG_DFL);
			close(STDERR_FILENO);
			(void)arena_alloc(&arena, counts[i], 8, 64);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	}
}

RUN_TESTS(TEST(allocations_are_zeroed_aligned_and_disjoint),
	  TEST(a_reset_keeps_one_block_and_frees_the_others),
	  TEST(a_size_that_overflows_aborts_the_process))
