// SPDX-License-Identifier: Apache-2.0
/*
 * rename - processes with ever new names.
 *
 *     rename PREFIX SECONDS
 *
 * Renames itself to "PREFIX self N" before it starts each child; the child calls itself "PREFIX N",
 * uses 2 ms of CPU time and ends. At the end it prints how many children there were.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void call_itself(const char *prefix, const char *infix, unsigned int number)
{
	char name[32];

	snprintf(name, sizeof(name), "%s%s %u", prefix, infix, number);
	prctl(PR_SET_NAME, name);
}

int main(int argc, char **argv)
{
	unsigned int count = 0;
	double seconds;

	if (argc != 3 ||
	    sscanf(argv[2], "%lf", &seconds) != 1) { /* NOLINT(cert-err34-c): a test gives it */
		fprintf(stderr, "usage: rename PREFIX SECONDS\n");
		return EXIT_FAILURE;
	}
	for (double end = now(CLOCK_MONOTONIC) + seconds; now(CLOCK_MONOTONIC) < end; count++) {
		call_itself(argv[1], " self", count);

		pid_t child = fork();

		if (child == 0) {
			call_itself(argv[1], "", count);
			while (now(CLOCK_PROCESS_CPUTIME_ID) < 0.002)
				;
			_exit(EXIT_SUCCESS);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child)
			return EXIT_FAILURE;
	}
	printf("%u\n", count);
	return EXIT_SUCCESS;
}
