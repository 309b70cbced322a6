// SPDX-License-Identifier: Apache-2.0
/*
 * stacks - uses CPU time on stacks that a walk by frame pointers cannot complete.
 *
 *     stacks deep SECONDS      a recursion of 600 calls
 *     stacks stray SECONDS     a frame pointer that leads to an address without code
 *
 * SECONDS are of CPU time.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEPTH = 600, UNIT = 2000 };

static volatile uint64_t sink;
static double limit;

static double seconds_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void burn(void)
{
	while (seconds_of(CLOCK_PROCESS_CPUTIME_ID) < limit)
		for (unsigned int i = 0; i < UNIT; i++)
			sink = sink * 1000003 + i;
}

/* The work after the call prevents a tail call. */
__attribute__((noinline)) static void
deep(unsigned int depth) // NOLINT(misc-no-recursion): its point
{
	if (depth == 0)
		burn();
	else
		deep(depth - 1);
	sink++;
}

/* The saved frame pointer, and above it the return address, as in any frame. */
__attribute__((noinline)) static void stray(void)
{
	uint64_t frame[2] = { 0, 0x1234 };

	while (seconds_of(CLOCK_PROCESS_CPUTIME_ID) < limit) {
		uint64_t rounds = (uint64_t)UNIT * UNIT;

#if defined(__x86_64__)
		__asm__ volatile("push %%rbp\n\tmov %1, %%rbp\n"
				 "1:\tdec %0\n\tjnz 1b\n\tpop %%rbp"
				 : "+r"(rounds)
				 : "r"(frame)
				 : "memory", "cc");
#elif defined(__aarch64__)
		__asm__ volatile("mov x9, x29\n\tmov x29, %1\n"
				 "1:\tsubs %0, %0, #1\n\tb.ne 1b\n\tmov x29, x9"
				 : "+r"(rounds)
				 : "r"(frame)
				 : "memory", "cc", "x9");
#endif
		sink += rounds;
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc == 3 ? argv[1] : "";

	if (!*kind || sscanf(argv[2], "%lf", &limit) != 1) /* NOLINT(cert-err34-c): a test's */
		return EXIT_FAILURE;
	if (!strcmp(kind, "deep"))
		deep(DEPTH);
	else if (!strcmp(kind, "stray"))
		stray();
	else
		return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
