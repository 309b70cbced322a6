// SPDX-License-Identifier: Apache-2.0
/*
 * burn - CPU time of known shape: main, outer, middle, then leaf_a and leaf_b at 3:1 by work.
 *
 *     burn SECONDS    of CPU time, then it prints the time used: {"pid":1,"cpu_seconds":60.01}
 *     burn            until SIGTERM
 *
 * Built with frame pointers and symbols, without inlining and tail calls, so that a test can check
 * its profile exactly.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { UNIT = 20000 };

static volatile sig_atomic_t stopped;
static volatile uint64_t sink;
static void *volatile frame;

/* Not constants, or gcc would make clones of the leaves, with other names, that take no argument.
 */
static volatile unsigned int three = 3, one = 1;

static void on_stop(int number)
{
	(void)number;
	stopped = 1;
}

/*
 * The two functions do the same kind of work, so that time is proportional to the count. Their
 * factors differ, else gcc would merge them. Using the frame's address makes gcc set up a frame
 * pointer in a function without calls.
 */
__attribute__((noinline)) static void leaf_a(unsigned int units)
{
	frame = __builtin_frame_address(0);
	for (unsigned int i = 0; i < units * UNIT; i++)
		sink = sink * 1000003 + i;
}

__attribute__((noinline)) static void leaf_b(unsigned int units)
{
	frame = __builtin_frame_address(0);
	for (unsigned int i = 0; i < units * UNIT; i++)
		sink = sink * 1000033 + i;
}

__attribute__((noinline)) static void middle(void)
{
	leaf_a(three);
	leaf_b(one);
}

__attribute__((noinline)) static void outer(void)
{
	middle();
	middle();
}

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double limit = 1e9;

	if (argc > 1 && sscanf(argv[1], "%lf", &limit) != 1) /* NOLINT(cert-err34-c): a test's */
		return EXIT_FAILURE;
	signal(SIGTERM, on_stop);
	signal(SIGINT, on_stop);
	while (!stopped && cpu_seconds() < limit)
		outer();
	printf("{\"pid\":%d,\"cpu_seconds\":%.6f}\n", (int)getpid(), cpu_seconds());
	return EXIT_SUCCESS;
}
