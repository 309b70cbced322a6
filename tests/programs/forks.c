// SPDX-License-Identifier: Apache-2.0
/*
 * forks - starts processes that end at once, one after another.
 *
 *     forks SECONDS MAPPINGS
 *
 * Each child maps executable memory MAPPINGS times and ends. At the end it prints how many children
 * there were.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096 };

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	unsigned long count = 0;
	unsigned int mappings;
	double seconds;

	if (argc != 3 ||
	    sscanf(argv[1], "%lf", &seconds) != 1 || /* NOLINT(cert-err34-c): a test gives it */
	    sscanf(argv[2], "%u", &mappings) != 1) { /* NOLINT(cert-err34-c): likewise */
		fprintf(stderr, "usage: forks SECONDS MAPPINGS\n");
		return EXIT_FAILURE;
	}
	for (double end = now() + seconds; now() < end; count++) {
		pid_t child = fork();

		if (child == 0) {
			for (unsigned int i = 0; i < mappings; i++)
				if (mmap(NULL, PAGE, PROT_READ | PROT_EXEC,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
					_exit(EXIT_FAILURE);
			_exit(EXIT_SUCCESS);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child)
			return EXIT_FAILURE;
	}
	printf("%lu\n", count);
	return EXIT_SUCCESS;
}
